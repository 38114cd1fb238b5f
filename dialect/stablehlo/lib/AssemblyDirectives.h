//===-- AssemblyDirectives.h - custom directives of the pretty form -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of op formats that declarative ones cannot express. TableGen's printers
// and parsers call these; each pair reads what the other writes.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_ASSEMBLYDIRECTIVES_H
#define CGX_DIALECT_STABLEHLO_ASSEMBLYDIRECTIVES_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

namespace cgx::stablehlo {

using mlir::ArrayRef;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;
using mlir::SmallVectorImpl;
using mlir::Type;
using mlir::TypeRange;

/// These parse and print one type if operands and result agree: `tensor<4xf32>`; else `(A, B) -> C`.
ParseResult parseSameOperandsAndResultTypes(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result);
void printSameOperandsAndResultTypes(OpAsmPrinter &printer, ArrayRef<Type> operands, Type result);

inline ParseResult parseSameOperandsAndResultType(OpAsmParser &p, Type &a, Type &result) {
  return parseSameOperandsAndResultTypes(p, {&a}, result);
}
inline ParseResult parseSameOperandsAndResultType(OpAsmParser &p, Type &a, Type &b, Type &result) {
  return parseSameOperandsAndResultTypes(p, {&a, &b}, result);
}
inline ParseResult parseSameOperandsAndResultType(OpAsmParser &p, Type &a, Type &b, Type &c, Type &result) {
  return parseSameOperandsAndResultTypes(p, {&a, &b, &c}, result);
}
inline void printSameOperandsAndResultType(OpAsmPrinter &p, Operation *, Type a, Type result) {
  printSameOperandsAndResultTypes(p, {a}, result);
}
inline void printSameOperandsAndResultType(OpAsmPrinter &p, Operation *, Type a, Type b, Type result) {
  printSameOperandsAndResultTypes(p, {a, b}, result);
}
inline void printSameOperandsAndResultType(OpAsmPrinter &p, Operation *, Type a, Type b, Type c,
                                           Type result) {
  printSameOperandsAndResultTypes(p, {a, b, c}, result);
}

/// These parse and print `pred type, result type` if both choices have the result's type; else a functional
/// type.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse, Type result);

/// These parse and print the complex type if both parts have its element type and shape; else a functional
/// type.
ParseResult parseComplexType(OpAsmParser &parser, Type &real, Type &imaginary, Type &result);
void printComplexType(OpAsmPrinter &printer, Operation *, Type real, Type imaginary, Type result);

/// These parse and print `T0, T1` where results have the types of the operands.
ParseResult parsePairwiseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results);
void printPairwiseTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange results);

/// These parse and print the tuple of the operands' types.
ParseResult parseTupleType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result);
void printTupleType(OpAsmPrinter &printer, Operation *, TypeRange operands, Type result);

/// These parse and print `%a, %b,` with a comma after the last.
ParseResult parseVariadicOperands(OpAsmParser &parser,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperands(OpAsmPrinter &printer, Operation *, mlir::OperandRange operands);

/// These parse and print `[0:8, 64:128:2]`: start, limit and, unless it is 1, stride.
ParseResult parseSliceRanges(OpAsmParser &parser, mlir::DenseI64ArrayAttr &starts,
                             mlir::DenseI64ArrayAttr &limits, mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *, mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits, mlir::DenseI64ArrayAttr strides);

/// These parse and print `e8m7`.
ParseResult parseFloatFormat(OpAsmParser &parser, mlir::IntegerAttr &exponent, mlir::IntegerAttr &mantissa);
void printFloatFormat(OpAsmPrinter &printer, Operation *, mlir::IntegerAttr exponent,
                      mlir::IntegerAttr mantissa);

/// These parse and print `batching_dims = [0] x [0], contracting_dims = [1] x [0]`.
ParseResult parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr numbers);

/// These parse and print `[DEFAULT, HIGHEST]`.
ParseResult parsePrecisionConfig(OpAsmParser &parser, mlir::ArrayAttr &config);
void printPrecisionConfig(OpAsmPrinter &printer, Operation *, mlir::ArrayAttr config);

/// These parse and print `, precision = [DEFAULT, DEFAULT], algorithm = <...>`, where each may be absent.
ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser, mlir::ArrayAttr &config,
                                       DotAlgorithmAttr &algorithm);
void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *, mlir::ArrayAttr config,
                                DotAlgorithmAttr algorithm);

/// These parse and print `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
ParseResult parseConvDimensionNumbers(mlir::AsmParser &parser, ConvDimensionNumbersAttr &numbers);
void printConvDimensionNumbers(mlir::AsmPrinter &printer, ConvDimensionNumbersAttr numbers);
inline void printConvDimensionNumbers(OpAsmPrinter &printer, Operation *, ConvDimensionNumbersAttr numbers) {
  printConvDimensionNumbers(printer, numbers);
}

/// These parse and print `stride = [1, 1], pad = [[0, 0], [1, 1]], lhs_dilate = ..., rhs_dilate = ...,
/// reverse = ...`.
ParseResult parseConvWindow(OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                            mlir::DenseIntElementsAttr &padding, mlir::DenseI64ArrayAttr &lhsDilation,
                            mlir::DenseI64ArrayAttr &rhsDilation, mlir::DenseBoolArrayAttr &reversal);
void printConvWindow(OpAsmPrinter &printer, Operation *, mlir::DenseI64ArrayAttr strides,
                     mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                     mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal);

/// These parse and print `@name`, which is kept as a string.
ParseResult parseCallTarget(OpAsmParser &parser, mlir::StringAttr &name);
void printCallTarget(OpAsmPrinter &printer, Operation *, mlir::StringAttr name);

/// Parses `<bounds = [4, ?]>`, the syntax of `#stablehlo.type_extensions`.
BoundsAttr parseTypeExtensions(mlir::AsmParser &parser);

/// These parse and print `[1, 2, 3]`.
ParseResult parseDims(mlir::AsmParser &parser, SmallVectorImpl<int64_t> &dims);
void printDims(mlir::AsmPrinter &printer, ArrayRef<int64_t> dims);

} // namespace cgx::stablehlo

#endif // CGX_DIALECT_STABLEHLO_ASSEMBLYDIRECTIVES_H
