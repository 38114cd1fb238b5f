//===-- PipelineErrors.h - What is wrong with a list of passes --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_OPT_PIPELINEERRORS_H
#define CGX_OPT_PIPELINEERRORS_H

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/ArrayRef.h"

namespace cgx {

/// Errors of the passes on the command line and of their options come from the tool, as those of its other
/// options do, not from a place in a file; they name the pass, and the option that was likely meant.
void explainPipelineErrors(mlir::MlirOptMainConfig &config, llvm::ArrayRef<char *> arguments);

} // namespace cgx

#endif // CGX_OPT_PIPELINEERRORS_H
