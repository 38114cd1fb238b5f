//===-- StageOrder.cpp - Ops by the collectives that they need ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOrder.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cgx {

bool canStart(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  bool isSynchronous = collective && op->getNumResults() != 0 && !collective.isStarted();
  auto gather = dyn_cast<AllGatherOp>(op);
  return isSynchronous && !collective.getGroups().isTrivial() && !(gather && gather.getDecodesAgain());
}

Places::Places(Block &block) : block(block) {
  for (Operation &op : block)
    places[&op] = places.size();
}

int64_t Places::ofOperands(Operation *op) const {
  int64_t last = -1;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == &block)
      last = std::max(last, of(definition));
  return last;
}

SmallVector<Operation *> getByAvailability(Block &block, const Places &places) {
  SmallVector<Operation *> collectives;
  for (Operation &op : block)
    if (canStart(&op))
      collectives.push_back(&op);
  llvm::stable_sort(collectives,
                    [&](Operation *a, Operation *b) { return places.ofOperands(a) < places.ofOperands(b); });
  return collectives;
}

void forEachBlockWithStarts(Operation *root, llvm::function_ref<void(Block &)> visit) {
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) {
    if (block->mightHaveTerminator() && llvm::any_of(*block, [](Operation &op) { return canStart(&op); }))
      blocks.push_back(block);
  });
  for (Block *block : blocks)
    visit(*block);
}

void sortByStage(Block &block, ArrayRef<OpBatch> batches) {
  DenseMap<Operation *, size_t> batchOf, stages;
  for (auto [number, batch] : llvm::enumerate(batches))
    for (Operation *op : batch)
      batchOf[op] = number;
  auto stageOfOperands = [&](Operation &op) {
    size_t stage = 0;
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        if (!definition || definition->getBlock() != &block)
          continue;
        auto batch = batchOf.find(definition);
        stage = std::max(stage, batch != batchOf.end() ? batch->second + 1 : stages.lookup(definition));
      }
    });
    return stage;
  };
  // Ops with effects keep their order.
  size_t effectStage = 0;
  for (Operation &op : block.without_terminator()) {
    size_t stage = stageOfOperands(op);
    if (!isMemoryEffectFree(&op))
      effectStage = stage = std::max(stage, effectStage);
    stages[&op] = stage;
  }
  for (const OpBatch &batch : batches) { // ops that become one are in one place
    size_t stage = 0;
    for (Operation *op : batch)
      stage = std::max(stage, stages[op]);
    for (Operation *op : batch)
      stages[op] = stage;
  }
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return stages[a] < stages[b]; });
  for (Operation *op : ops)
    op->moveBefore(block.getTerminator());
}

} // namespace cgx
