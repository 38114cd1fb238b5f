//===-- PlacelessDiagnostics.h - What is said of no place -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_PLACELESSDIAGNOSTICS_H
#define CGX_TOOLS_PLACELESSDIAGNOSTICS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace cgx {

/// From now on prints diagnostics about no place, such as of a wrong option, as "PREFIXerror: ...", where
/// MLIR's own handler would put "<unknown>:0: " before them. Those with notes, which have places, are left to
/// that.
void printPlacelessDiagnostics(mlir::MLIRContext *context, llvm::raw_ostream &stream,
                               llvm::StringRef prefix = "");

} // namespace cgx

#endif // CGX_TOOLS_PLACELESSDIAGNOSTICS_H
