//===-- CollectiveIds.h - numbers of collectives ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_COLLECTIVEIDS_H
#define CGX_PASSES_IMPORT_COLLECTIVEIDS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace cgx {

/// Gives out ids that no communication of a module has. Asked in program order,
/// it gives the same ids on every rank, since all ranks compile the same module.
class CollectiveIds {
public:
  explicit CollectiveIds(mlir::ModuleOp module) {
    module.walk([&](CommunicationOpInterface op) { next = std::max(next, op.getId() + 1); });
  }

  int64_t take() { return next++; }

private:
  int64_t next = 0;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_COLLECTIVEIDS_H
