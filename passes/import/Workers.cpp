//===-- Workers.cpp - ranks that train together in local training ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cgx;

Workers::Workers(MeshAttr mesh, ArrayRef<Attribute> axes)
    : groups(mesh.getGroupsOver(
          llvm::map_to_vector(axes, [](Attribute axis) { return cast<StringAttr>(axis).getValue(); }))) {
  for (DenseI64ArrayAttr row : groups.getRows())
    for (auto [worker, rank] : llvm::enumerate(row.asArrayRef()))
      workerOf[rank] = worker;
}

bool Workers::isInside(GroupsAttr other) const {
  return other != groups && llvm::all_of(other.getRows(), [&](DenseI64ArrayAttr row) {
           return llvm::all_of(row.asArrayRef(), [&](int64_t rank) {
             return workerOf.lookup(rank) == workerOf.lookup(row[0]);
           });
         });
}

std::optional<SmallVector<SmallVector<int64_t>>> Workers::split(GroupsAttr other) const {
  SmallVector<SmallVector<int64_t>> parts;
  for (DenseI64ArrayAttr row : other.getRows()) {
    SmallVector<SmallVector<int64_t>> byWorker(getCount());
    for (int64_t rank : row.asArrayRef())
      byWorker[workerOf.lookup(rank)].push_back(rank);
    if (llvm::any_of(byWorker, [&](ArrayRef<int64_t> part) {
          return part.empty() || part.size() != byWorker.front().size();
        }))
      return std::nullopt;
    llvm::append_range(parts, byWorker);
  }
  return parts;
}
