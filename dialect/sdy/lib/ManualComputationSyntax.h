//===-- ManualComputationSyntax.h - its assembly format's parts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_LIB_MANUALCOMPUTATIONSYNTAX_H
#define CGX_DIALECT_SDY_LIB_MANUALCOMPUTATIONSYNTAX_H

#include "cgx/Dialect/Sdy/SdyDialect.h"

namespace cgx::sdy {

/// The custom directives of SdyOps.td.
mlir::ParseResult parseShardings(mlir::OpAsmParser &parser, TensorShardingPerValueAttr &shardings);
void printShardings(mlir::OpAsmPrinter &printer, mlir::Operation *op, TensorShardingPerValueAttr shardings);
mlir::ParseResult parseManualAxes(mlir::OpAsmParser &parser, ManualAxesAttr &axes);
void printManualAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op, ManualAxesAttr axes);
mlir::ParseResult parseRegionWithArguments(mlir::OpAsmParser &parser, mlir::Region &region);
void printRegionWithArguments(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &region);

} // namespace cgx::sdy

#endif // CGX_DIALECT_SDY_LIB_MANUALCOMPUTATIONSYNTAX_H
