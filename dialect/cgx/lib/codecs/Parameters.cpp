//===-- Parameters.cpp - Parameters of codecs, read and listed ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cgx::detail;

ParameterParser &ParameterParser::real(StringRef name, double &value) {
  return add(name, /*takesValue=*/true, [this, &value]() -> ParseResult {
    // `density = 1` is a number as well.
    int64_t whole = 0;
    OptionalParseResult parsed = parser.parseOptionalInteger(whole);
    if (!parsed.has_value())
      return parser.parseFloat(value);
    value = static_cast<double>(whole);
    return *parsed;
  });
}

ParseResult ParameterParser::parse() {
  SMLoc location = parser.getCurrentLocation();
  if (parameters.empty())
    return succeeded(parser.parseOptionalLess()) ? parser.emitError(location, "expected no parameters")
                                                 : ParseResult(success());
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                        [this] { return parseParameter(); });
}

ParseResult ParameterParser::parseParameter() {
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  auto *found = llvm::find_if(parameters, [&](const Parameter &parameter) { return parameter.name == name; });
  if (found == parameters.end()) {
    auto names = llvm::map_to_vector(parameters, [](const Parameter &parameter) { return parameter.name; });
    StringRef last = names.pop_back_val();
    InFlightDiagnostic diagnostic = parser.emitError(location) << "expected ";
    if (!names.empty())
      diagnostic << llvm::join(names, ", ") << " or ";
    return diagnostic << last << ", got " << name;
  }
  if (found->seen)
    return parser.emitError(location) << "parameter " << name << " is given twice";
  found->seen = true;
  if (found->takesValue && parser.parseEqual())
    return failure();
  return found->parseValue();
}

LogicalResult cgx::detail::verifyBucket(function_ref<InFlightDiagnostic()> emitError, int64_t bucket) {
  if (bucket < 1 || bucket > UINT32_MAX)
    return emitError() << "expected bucket in 1.." << UINT32_MAX << ", got " << bucket;
  return success();
}

LogicalResult cgx::detail::verifyShare(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                       FloatAttr share) {
  double value = share.getValueAsDouble();
  if (!share.getType().isF64() || !(value > 0 && value <= 1) || static_cast<float>(value) == 0)
    return emitError() << "expected " << name << " to be above 0 and up to 1, got " << value;
  return success();
}

void cgx::detail::printSparse(AsmPrinter &printer, FloatAttr density, bool checksum) {
  printer << "<density = ";
  printer.printFloat(density.getValue());
  printer << (checksum ? ", checksum>" : ">");
}
