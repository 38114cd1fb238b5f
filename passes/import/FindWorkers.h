//===-- FindWorkers.h - The ranks that train by themselves -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_IMPORT_FINDWORKERS_H
#define CGX_PASSES_IMPORT_FINDWORKERS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cgx {

struct FoundWorkers {
  MeshAttr mesh;                           ///< of the module, which gets one if it has none
  llvm::SmallVector<mlir::Attribute> axes; ///< along which ranks train by themselves
  GroupsAttr reduced;                      ///< over which the last gradient is reduced that leaves a worker
};

/// Finds the workers, which train by themselves: the ranks over which all gradients are all-reduced, or those
/// that differ along the axes `across`. Emits an error at an op that moves anything else of the parameters
/// between workers.
llvm::FailureOr<FoundWorkers> findWorkers(mlir::func::FuncOp step, llvm::ArrayRef<std::string> across);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_FINDWORKERS_H
