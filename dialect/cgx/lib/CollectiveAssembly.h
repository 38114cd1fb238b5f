//===-- CollectiveAssembly.h - How collectives are written ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes of a collective stand as clauses after its operands, in one order for all collectives:
//
//   cgx.all_reduce mean(%w) codec(quantize<bits = 4>) groups([[0, 1]]) id(0) layer("w", gradient, [64, 128])
//
// A clause has the text of the attribute, without `#cgx.` and the brackets; an attribute, or an alias of one,
// may stand in its place. There is one `layer` per operand. Attributes that are no clause stand in an
// attribute dictionary after the clauses. Clauses may stand there, too, as they all do in earlier programs.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_CGX_LIB_COLLECTIVEASSEMBLY_H
#define CGX_DIALECT_CGX_LIB_COLLECTIVEASSEMBLY_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/OpImplementation.h"

namespace cgx::detail {

// `custom<CollectiveAttrs>` of a collective, which has identity codecs and unknown layers where it names
// none.
mlir::ParseResult parseCollectiveAttrs(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes,
                                       llvm::StringRef op,
                                       llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> inputs);
void printCollectiveAttrs(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DictionaryAttr attributes,
                          llvm::StringRef, mlir::OperandRange);

// `custom<PayloadAttrs>` of what belongs to an operand of a collective.
mlir::ParseResult parsePayloadAttrs(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes,
                                    llvm::StringRef op);
void printPayloadAttrs(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DictionaryAttr attributes,
                       llvm::StringRef);

/// Parses an attribute without its `#cgx.`.
mlir::Attribute parseWithoutDialect(mlir::AsmParser &parser, mlir::Type type = {});
void printWithoutDialect(mlir::AsmPrinter &printer, mlir::Attribute attribute);

// These parse and print the parameters of an attribute, between its brackets.
GroupsAttr parseRows(mlir::AsmParser &parser); // after the first bracket
void printRows(mlir::AsmPrinter &printer, GroupsAttr groups);
LayerAttr parseLayerParameters(mlir::AsmParser &parser, llvm::StringRef name); // after the name
void printLayerParameters(mlir::AsmPrinter &printer, LayerAttr layer);
HierarchyAttr parseHierarchyParameters(mlir::AsmParser &parser, mlir::AsmParser::Delimiter delimiter);
void printHierarchyParameters(mlir::AsmPrinter &printer, HierarchyAttr hierarchy);

/// These parse and print `[` 0, 1 `]`.
mlir::ParseResult parseIntegers(mlir::AsmParser &parser, llvm::SmallVectorImpl<int64_t> &values);
void printIntegers(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> values);

} // namespace cgx::detail

#endif // CGX_DIALECT_CGX_LIB_COLLECTIVEASSEMBLY_H
