//===-- Hierarchy.cpp - groups as hosts of several ranks ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveAssembly.h"
#include "Word.h"
#include "cgx/Dialect/Cgx/LayerCodec.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cgx;

LogicalResult HierarchyAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t local,
                                    CodecAttrInterface inside, Leaders) {
  const std::string wrong = layers::checkHierarchy(local, toLayerCodec(inside)); // (C1) to (C3)
  return wrong.empty() ? success() : LogicalResult(emitError() << wrong);
}

HierarchyAttr cgx::detail::parseHierarchyParameters(AsmParser &parser, AsmParser::Delimiter delimiter) {
  SMLoc location = parser.getCurrentLocation();
  int64_t local = 0; // which (C1) rejects
  CodecAttrInterface inside = getIdentityCodec(parser.getContext());
  Leaders leaders = Leaders::All;
  auto parseLeaders = [&]() -> ParseResult {
    StringRef text;
    SMLoc place = parser.getCurrentLocation();
    if (parseWord(parser, text, wordsOf(stringifyLeaders, getMaxEnumValForLeaders())))
      return failure();
    std::optional<Leaders> parsed = symbolizeLeaders(text);
    if (!parsed)
      return parser.emitError(place) << "expected all or one, got " << text;
    leaders = *parsed;
    return success();
  };
  llvm::StringSet<> seen;
  auto parseParameter = [&]() -> ParseResult {
    StringRef name;
    SMLoc place = parser.getCurrentLocation();
    if (parseWord(parser, name, {"local", "inside", "leaders"}))
      return failure();
    if (!seen.insert(name).second)
      return parser.emitError(place) << "parameter " << name << " is given twice";
    if (name != "local" && name != "inside" && name != "leaders")
      return parser.emitError(place) << "expected local, inside or leaders, got " << name;
    if (parser.parseEqual())
      return failure();
    return name == "local"    ? parser.parseInteger(local)
           : name == "inside" ? parser.parseAttribute(inside)
                              : parseLeaders();
  };
  if (parser.parseCommaSeparatedList(delimiter, parseParameter))
    return {};
  return parser.getChecked<HierarchyAttr>(location, parser.getContext(), local, inside, leaders);
}

void cgx::detail::printHierarchyParameters(AsmPrinter &printer, HierarchyAttr hierarchy) {
  printer << "local = " << hierarchy.getLocal() << ", inside = " << hierarchy.getInside()
          << ", leaders = " << stringifyLeaders(hierarchy.getLeaders());
}

Attribute HierarchyAttr::parse(AsmParser &parser, Type) {
  return detail::parseHierarchyParameters(parser, AsmParser::Delimiter::OptionalLessGreater);
}

void HierarchyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  detail::printHierarchyParameters(printer, *this);
  printer << '>';
}

cgx_schedule cgx::detail::getSchedule(Algorithm algorithm, std::optional<HierarchyAttr> hierarchy) {
  cgx_schedule schedule{};
  schedule.algorithm = static_cast<uint32_t>(algorithm);
  if (hierarchy) {
    schedule.local = static_cast<uint32_t>(hierarchy->getLocal());
    schedule.leaders = static_cast<uint32_t>(hierarchy->getLeaders());
    schedule.inside = hierarchy->getInside().getCodec();
  }
  return schedule;
}
