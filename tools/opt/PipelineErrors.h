//===-- PipelineErrors.h - Errors of a list of passes -----------*- C++ -*-===//
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

/// Prints errors about passes and their options as errors of the tool, like those of its other options, and
/// not at a place in a file. They name the pass, and the option that was likely meant.
void explainPipelineErrors(mlir::MlirOptMainConfig &config, llvm::ArrayRef<char *> arguments);

} // namespace cgx

#endif // CGX_OPT_PIPELINEERRORS_H
