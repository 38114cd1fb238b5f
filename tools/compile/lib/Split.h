//===-- Split.h - Modules that are compiled in parallel ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_SPLIT_H
#define CGX_TOOLS_COMPILE_SPLIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace cgx::compile {

/// Moves the outlined functions of a module in the LLVM dialect into at most `count` modules of about equal
/// size. Together with the rest of `module` they are an equivalent program. The distribution changes no
/// function's code.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>> splitOutlined(mlir::ModuleOp module, unsigned count);

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_SPLIT_H
