//===-- GroupCollectives.cpp - Fewer, larger exchanges --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every exchange pays the latency of its messages, however small they are: a
// step with a hundred biases pays it a hundred times. All-reduces that do not
// depend on each other become one variadic all-reduce, whose message to a peer
// holds the payloads of all operands.
//
// Dependence, and a valid order, follow from the rounds of the ops, so the pass is linear.
//
//===----------------------------------------------------------------------===//

#include "MergeAllReduces.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_GROUPCOLLECTIVESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns the batches of a block, each of two ops or more.
SmallVector<Batch> findBatches(Block &block, const Rounds &rounds, uint64_t groupBytes) {
  llvm::MapVector<MergeKey, SmallVector<Batch>> open;
  for (auto op : block.getOps<AllReduceOp>()) {
    uint64_t bytes = getOperandBytes(op);
    if (bytes > groupBytes)
      continue;
    auto &batches = open[getMergeKey(op, rounds)];
    if (batches.empty() || batches.back().bytes + bytes > groupBytes)
      batches.emplace_back();
    batches.back().ops.push_back(op);
    batches.back().bytes += bytes;
  }
  SmallVector<Batch> result;
  for (auto &[key, batches] : open)
    for (Batch &batch : batches)
      if (batch.ops.size() > 1)
        result.push_back(std::move(batch));
  return result;
}

/// Orders the ops of a block by round, keeping the order within a round.
void sortByRound(Block &block, const Rounds &rounds) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return rounds.of(a) < rounds.of(b); });
  for (Operation *op : ops)
    op->moveBefore(block.getTerminator());
}

struct GroupCollectives : impl::GroupCollectivesPassBase<GroupCollectives> {
  using GroupCollectivesPassBase::GroupCollectivesPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!block->getOps<AllReduceOp>().empty() && block->mightHaveTerminator())
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      Rounds rounds(*block);
      SmallVector<Batch> batches = findBatches(*block, rounds, groupBytes);
      if (batches.empty())
        continue;
      sortByRound(*block, rounds);
      for (const Batch &batch : batches)
        merge(batch.ops);
    }
  }
};

} // namespace
} // namespace cgx
