//===-- ConstantOp.cpp - text and value of constants ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "cgx/Dialect/Stablehlo/BooleanLiterals.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Parses `dense<"0x..."> : tensor<...xi1>` of `digits` with a byte per element.
static ParseResult parseByteBooleans(OpAsmParser &parser, StringRef digits, ElementsAttr &value) {
  std::string text;
  ShapedType type;
  if (parser.parseKeyword("dense") || parser.parseLess() || parser.parseString(&text) ||
      parser.parseGreater() || parser.parseColonType(type))
    return failure();
  SmallVector<bool> elements(digits.size() / 2);
  for (auto [index, element] : llvm::enumerate(elements))
    element = getByteBoolean(digits, index);
  value = DenseElementsAttr::get(type, elements);
  return success();
}

/// Parses the generic form, `() <{value = ...}> : () -> type`, and the one with braces alone.
static ParseResult parseWithType(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<ConstantOp::Properties>();
  SMLoc location = parser.getCurrentLocation();
  NamedAttrList attributes;
  FunctionType type;
  if (parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalLess()) &&
      (parser.parseOptionalAttrDict(attributes) || parser.parseGreater()))
    return failure();
  if (parser.parseOptionalAttrDict(attributes) || parser.parseColonType(type))
    return failure();
  auto value = dyn_cast_or_null<ElementsAttr>(attributes.erase("value"));
  if (!value || type.getNumInputs() != 0 || type.getNumResults() != 1)
    return parser.emitError(location) << "expected a value, no operand and one result, got " << type;
  properties.value = value;
  result.addAttributes(attributes);
  result.addTypes(type.getResults());
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen()))
    return parseWithType(parser, result);
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  std::optional<StringRef> booleans = matchByteBooleans(parser.getCurrentLocation().getPointer());
  if (booleans ? parseByteBooleans(parser, *booleans, value) : parser.parseAttribute(value))
    return failure();
  result.getOrAddProperties<Properties>().value = value;
  result.addTypes(value.getShapedType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getShapedType() == getType()) {
    printer.printOptionalAttrDict((*this)->getAttrs(), getValueAttrName().getValue());
    printer << ' ' << getValue();
    return;
  }
  printer << "() <{value = " << getValue() << "}>";
  printer.printOptionalAttrDict((*this)->getAttrs(), getValueAttrName().getValue());
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult ConstantOp::verify() {
  ShapedType value = getValue().getShapedType();
  if (value == getType())
    return success();
  auto quantized = dyn_cast<quant::QuantizedType>(getType().getElementType());
  bool isSigned = !value.getElementType().isUnsignedInteger();
  if (quantized && value.getElementType().isInteger(quantized.getStorageTypeIntegralWidth()) &&
      (isSigned == quantized.isSigned() || value.getElementType().isSignlessInteger()) &&
      value.getShape() == getType().getShape()) // (C1)
    return success();
  return emitOpError() << "expected a result of the type of the value, " << value << ", got " << getType();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
