//===-- PlacelessDiagnostics.h - Diagnostics without a location -*- C++ -*-===//
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

/// Prints diagnostics without a location, such as those about a wrong option, as "PREFIXerror: ..." from now
/// on. MLIR's own handler would put "<unknown>:0: " before them, and still handles those that have notes with
/// locations.
void printPlacelessDiagnostics(mlir::MLIRContext *context, llvm::raw_ostream &stream,
                               llvm::StringRef prefix = "");

} // namespace cgx

#endif // CGX_TOOLS_PLACELESSDIAGNOSTICS_H
