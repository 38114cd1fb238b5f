//===-- Codec.cpp - Codec families as attributes --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code follows the table of cgx/codec_table.h and names no family.

#include "../Word.h"
#include "cgx/Dialect/Cgx/LayerCodec.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cgx;

bool CodecAttr::isUnbiased() const {
  cgx_codec codec = getCodec();
  return cgx_codec_is_unbiased(&codec);
}

bool CodecAttr::takesElementType(Type elementType) const {
  std::optional<cgx_element_type> type = getCodecElementType(elementType);
  return type && toLayerCodec(*this).takes(*type);
}

StringRef CodecAttr::getElementTypesText() const {
  return has(CGX_TAKES_ANY_TYPE) ? "f16, bf16, f32, f64, i1 or an integer of 8 to 64 bits"
                                 : "f16, bf16 or f32";
}

std::string CodecAttr::getShapeRefusal(RankedTensorType type) const {
  return toLayerCodec(*this).rejectShape(*getCodecElementType(type.getElementType()), type.getShape());
}

LogicalResult CodecAttr::verify(function_ref<InFlightDiagnostic()> emitError, CodecValues values) {
  if (std::string wrong = checkCodecValues(values); !wrong.empty()) // (C1) to (C3)
    return emitError() << wrong;
  return success();
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

static ParseResult parseReal(AsmParser &parser, double &value) {
  // `density = 1` is a number as well.
  int64_t whole = 0;
  OptionalParseResult parsed = parser.parseOptionalInteger(whole);
  if (!parsed.has_value())
    return parser.parseFloat(value);
  value = static_cast<double>(whole);
  return *parsed;
}

static ParseResult parseCase(AsmParser &parser, const CodecParameter &parameter, double &value) {
  StringRef text;
  SMLoc location = parser.getCurrentLocation();
  SmallVector<StringRef> names;
  for (const auto &one : parameter.cases)
    names.push_back(one.name);
  if (parseWord(parser, text, names))
    return failure();
  for (auto [number, one] : llvm::enumerate(parameter.cases))
    if (text == StringRef(one.name)) {
      value = static_cast<double>(number);
      return success();
    }
  return parser.emitError(location) << "expected "
                                    << codec_table::choiceOf(codec_table::namesOf(parameter.cases))
                                    << ", got " << text;
}

static ParseResult parseValue(AsmParser &parser, const CodecParameter &parameter, double &value) {
  if (parameter.isFlag) {
    value = 1;
    return success();
  }
  if (parser.parseEqual())
    return failure();
  if (parameter.real)
    return parseReal(parser, value);
  if (!parameter.cases.empty())
    return parseCase(parser, parameter, value);
  int64_t whole = 0;
  ParseResult parsed = parser.parseInteger(whole);
  value = static_cast<double>(whole);
  return parsed;
}

/// Parses one `name = value`, or the `name` of a flag.
static ParseResult parseParameter(AsmParser &parser, CodecValues &codec, SmallVectorImpl<bool> &isGiven) {
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  SmallVector<std::string> names;
  SmallVector<StringRef> left;
  for (auto [i, parameter] : llvm::enumerate(codec.parameters())) {
    names.emplace_back(parameter.name);
    if (!isGiven[i])
      left.push_back(parameter.name);
  }
  if (parseWord(parser, name, left))
    return failure();
  for (auto [i, parameter] : llvm::enumerate(codec.parameters())) {
    if (name != StringRef(parameter.name))
      continue;
    if (isGiven[i])
      return parser.emitError(location) << "parameter " << name << " is given twice";
    isGiven[i] = true;
    return parseValue(parser, parameter, codec.values[i]);
  }
  return parser.emitError(location) << "expected " << codec_table::choiceOf(names) << ", got " << name;
}

// `<` parameter (`,` parameter)* `>` in any order, each at most once; all may be left out, and the brackets
// with them.
Attribute CodecAttr::parseParameters(AsmParser &parser, uint32_t family) {
  SMLoc location = parser.getCurrentLocation();
  CodecValues codec = {family};
  if (codec.parameters().empty()) {
    if (succeeded(parser.parseOptionalLess()))
      return parser.emitError(location, "expected no parameters"), Attribute();
    return get(parser.getContext(), codec);
  }
  SmallVector<bool> isGiven(codec.parameters().size(), false);
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                     [&] { return parseParameter(parser, codec, isGiven); }))
    return {};
  for (auto [i, parameter] : llvm::enumerate(codec.parameters())) {
    if (!isGiven[i])
      codec.values[i] = codec.usual(parameter);
    if (!isGiven[i] && parameter.isRequired)
      return parser.emitError(location, "expected ")
                 << (StringRef("aeiou").contains(parameter.name.front()) ? "an " : "a ") << parameter.name
                 << ": " << codec_table::choiceOf(codec_table::namesOf(parameter.cases))
                 << ", whichever the step has",
             Attribute();
  }
  return parser.getChecked<CodecAttr>(location, parser.getContext(), codec);
}

void CodecAttr::printParameters(AsmPrinter &printer) const {
  const CodecValues &codec = getValues();
  const char *between = "<";
  for (auto [i, parameter] : llvm::enumerate(codec.parameters())) {
    if (!codec.writes(i))
      continue;
    printer << std::exchange(between, ", ") << parameter.name;
    if (parameter.real)
      printer << " = ", printer.printFloat(APFloat(codec.values[i]));
    else if (!parameter.isFlag)
      printer << " = " << codec_table::textOf(parameter, codec.values[i]);
  }
  if (*between == ',')
    printer << '>';
}
