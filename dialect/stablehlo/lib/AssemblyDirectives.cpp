//===-- AssemblyDirectives.cpp - types, lists and ranges in op formats -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cgx::stablehlo {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult parseSameOperandsAndResultTypes(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *operand : operands)
      *operand = type;
    result = type;
    return success();
  }
  if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
    return parser.emitError(location)
           << "expected " << operands.size() << " operand types and 1 result type, got " << function;
  for (auto [operand, input] : llvm::zip_equal(operands, function.getInputs()))
    *operand = input;
  result = function.getResult(0);
  return success();
}

void printSameOperandsAndResultTypes(OpAsmPrinter &printer, ArrayRef<Type> operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; })) {
    printer << result;
    return;
  }
  printer.printFunctionalType(operands, ArrayRef<Type>(result));
}

ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  auto function = types.size() == 1 ? dyn_cast<FunctionType>(types[0]) : FunctionType();
  if (!function || function.getNumInputs() != 3 || function.getNumResults() != 1)
    return parser.emitError(location) << "expected the types of predicate and result, or a function type";
  pred = function.getInput(0);
  onTrue = function.getInput(1);
  onFalse = function.getInput(2);
  result = function.getResult(0);
  return success();
}

void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{pred, onTrue, onFalse}, ArrayRef<Type>(result));
}

/// Returns the type of the parts of a tensor of complex numbers, or null.
static Type getPartType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element ? tensor.clone(element.getElementType()) : Type();
}

ParseResult parseComplexType(OpAsmParser &parser, Type &real, Type &imaginary, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parseSameOperandsAndResultTypes(parser, {&real, &imaginary}, result))
    return failure();
  if (real != result)
    return success();
  real = imaginary = getPartType(result);
  if (!real)
    return parser.emitError(location) << "expected a tensor of complex numbers, got " << result;
  return success();
}

void printComplexType(OpAsmPrinter &printer, Operation *, Type real, Type imaginary, Type result) {
  Type part = getPartType(result);
  if (real == part && imaginary == part)
    printer << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{real, imaginary}, ArrayRef<Type>(result));
}

ParseResult parsePairwiseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

void printPairwiseTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult parseTupleType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result); function && function.getNumResults() == 1) {
    llvm::append_range(operands, function.getInputs());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(location) << "expected a tuple type, got " << result;
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

void printTupleType(OpAsmPrinter &printer, Operation *, TypeRange operands, Type result) {
  if (auto tuple = dyn_cast<TupleType>(result); tuple && TypeRange(tuple.getTypes()) == operands)
    printer << result;
  else
    printer.printFunctionalType(operands, ArrayRef<Type>(result));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ParseResult parseVariadicOperands(OpAsmParser &parser,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  for (;;) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value())
      return success();
    if (failed(*found) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void printVariadicOperands(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleave(operands, printer, [&](Value operand) { printer << operand << ','; }, " ");
}

ParseResult parseDims(AsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dims.emplace_back()); });
}

void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer);
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Ranges, formats, names
//===----------------------------------------------------------------------===//

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts, DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    stride.push_back(1);
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    return failed(parser.parseOptionalColon()) ? success() : parser.parseInteger(stride.back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  starts = builder.getDenseI64ArrayAttr(start);
  limits = builder.getDenseI64ArrayAttr(limit);
  strides = builder.getDenseI64ArrayAttr(stride);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides) {
  printer << '[';
  for (int64_t i = 0, e = starts.size(); i < e; ++i) {
    printer << (i ? ", " : "") << starts[i] << ':' << limits[i];
    if (strides[i] != 1)
      printer << ':' << strides[i];
  }
  printer << ']';
}

ParseResult parseFloatFormat(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  SMLoc location = parser.getCurrentLocation();
  StringRef format;
  unsigned exponentBits, mantissaBits;
  if (parser.parseKeyword(&format))
    return failure();
  if (!format.consume_front("e") || format.consumeInteger(10, exponentBits) || !format.consume_front("m") ||
      format.getAsInteger(10, mantissaBits))
    return parser.emitError(location) << "expected a format such as e8m7";
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void printFloatFormat(OpAsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult parseCallTarget(OpAsmParser &parser, StringAttr &name) { return parser.parseSymbolName(name); }

void printCallTarget(OpAsmPrinter &printer, Operation *, StringAttr name) { printer.printSymbolName(name); }

} // namespace cgx::stablehlo
