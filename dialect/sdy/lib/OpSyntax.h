//===-- OpSyntax.h - parts of assembly formats -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_LIB_OPSYNTAX_H
#define CGX_DIALECT_SDY_LIB_OPSYNTAX_H

#include "cgx/Dialect/Sdy/SdyDialect.h"

namespace cgx::sdy {

/// These parse and print the custom directives of SdyOps.td.
mlir::ParseResult parseShardings(mlir::OpAsmParser &parser, TensorShardingPerValueAttr &shardings);
void printShardings(mlir::OpAsmPrinter &printer, mlir::Operation *op, TensorShardingPerValueAttr shardings);
mlir::ParseResult parseSharding(mlir::OpAsmParser &parser, TensorShardingAttr &sharding);
void printSharding(mlir::OpAsmPrinter &printer, mlir::Operation *op, TensorShardingAttr sharding);
mlir::ParseResult parseAxisList(mlir::OpAsmParser &parser, AxisRefListAttr &axes);
void printAxisList(mlir::OpAsmPrinter &printer, mlir::Operation *op, AxisRefListAttr axes);
mlir::ParseResult parseAxesPerDimension(mlir::OpAsmParser &parser, ListOfAxisRefListsAttr &axes);
void printAxesPerDimension(mlir::OpAsmPrinter &printer, mlir::Operation *op, ListOfAxisRefListsAttr axes);
mlir::ParseResult parseAllToAllParams(mlir::OpAsmParser &parser, AllToAllParamListAttr &params);
void printAllToAllParams(mlir::OpAsmPrinter &printer, mlir::Operation *op, AllToAllParamListAttr params);
mlir::ParseResult parseManualAxes(mlir::OpAsmParser &parser, ManualAxesAttr &axes);
void printManualAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op, ManualAxesAttr axes);
mlir::ParseResult parseRegionWithArguments(mlir::OpAsmParser &parser, mlir::Region &region);
void printRegionWithArguments(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &region);

} // namespace cgx::sdy

#endif // CGX_DIALECT_SDY_LIB_OPSYNTAX_H
