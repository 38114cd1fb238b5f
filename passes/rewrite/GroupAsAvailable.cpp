//===-- GroupAsAvailable.cpp - Merges all-reduces by availability ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergeAllReduces.h"
#include "StageOrder.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_GROUPASAVAILABLEPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns the batches of a block, numbered as StageOrder.h says; each has its ops in the order of their
/// places.
SmallVector<OpBatch> findBatches(Block &block, uint64_t groupBytes) {
  Places places(block);
  Rounds rounds(block);
  // A batch has the place of its last op in that order.
  llvm::MapVector<size_t, OpBatch> batches;
  llvm::MapVector<MergeKey, Batch> open;
  auto close = [&](const Batch &batch, size_t place) {
    batches[place] = llvm::map_to_vector(batch.ops, [](AllReduceOp op) { return op.getOperation(); });
  };
  DenseMap<Operation *, size_t> order;
  for (auto [place, op] : llvm::enumerate(getByAvailability(block, places))) {
    order[op] = place;
    // Batches of earlier rounds are closed: this op may need their results, so they must not wait for later
    // operands.
    open.remove_if([&](auto &entry) {
      bool isEarlier = std::get<0>(entry.first) < rounds.of(op);
      if (isEarlier)
        close(entry.second, order.lookup(entry.second.ops.back()));
      return isEarlier;
    });
    auto reduce = dyn_cast<AllReduceOp>(op);
    uint64_t bytes = reduce ? getOperandBytes(reduce) : 0;
    if (!reduce || bytes > groupBytes) {
      batches[place] = {op};
      continue;
    }
    Batch &batch = open[getMergeKey(reduce, rounds)];
    if (!batch.ops.empty() && batch.bytes + bytes > groupBytes) {
      close(batch, order.lookup(batch.ops.back()));
      batch = {};
    }
    batch.ops.push_back(reduce);
    batch.bytes += bytes;
  }
  for (auto &[key, batch] : open)
    close(batch, order.lookup(batch.ops.back()));

  SmallVector<std::pair<size_t, OpBatch>> inOrder = batches.takeVector();
  llvm::sort(inOrder, [](const auto &a, const auto &b) { return a.first < b.first; });
  SmallVector<OpBatch> result;
  for (auto &[place, group] : inOrder) {
    llvm::sort(group, [&](Operation *a, Operation *b) { return places.of(a) < places.of(b); });
    result.push_back(std::move(group));
  }
  return result;
}

struct GroupAsAvailable : impl::GroupAsAvailablePassBase<GroupAsAvailable> {
  using GroupAsAvailablePassBase::GroupAsAvailablePassBase;

  void runOnOperation() override {
    forEachBlockWithStarts(getOperation(), [&](Block &block) {
      SmallVector<OpBatch> batches = findBatches(block, groupBytes);
      if (llvm::all_of(batches, [](const OpBatch &batch) { return batch.size() == 1; }))
        return;
      // Operands of a batch then come before it, and users after it.
      sortByStage(block, batches);
      for (const OpBatch &batch : batches)
        if (batch.size() > 1)
          merge(llvm::map_to_vector(batch, [](Operation *op) { return cast<AllReduceOp>(op); }));
    });
  }
};

} // namespace
} // namespace cgx
