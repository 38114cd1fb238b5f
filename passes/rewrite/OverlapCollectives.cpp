//===-- OverlapCollectives.cpp - Compute while ranks exchange -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch is one collective, or several all-reduces that become one. Batches are numbered in the order
// in which the last operand of each becomes available, and no batch needs a later one. The stage of an op is
// the number of the last batch that it needs, plus one; 0 if it needs none. Ops ordered by stage are in
// topological order: batch k needs batches before k only, so its stage is at most k, and that of
// its users more than k.
//
//===----------------------------------------------------------------------===//

#include "MemorySize.h"
#include "MergeAllReduces.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// A collective that can be started: what it is for one rank costs nothing.
bool canStart(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  bool isSynchronous = collective && op->getNumResults() != 0 && !isa<HandleType>(op->getResult(0).getType());
  return isSynchronous && !collective.getGroups().isTrivial();
}

/// The places of the ops of a block, counted from its beginning.
class Places {
public:
  explicit Places(Block &block) : block(block) {
    for (Operation &op : block)
      places[&op] = places.size();
  }

  /// Of the op of the block that is `op` or has it in a region.
  int64_t of(Operation *op) const { return places.lookup(block.findAncestorOpInBlock(*op)); }

  /// Of the op behind which all operands of `op` are there; -1 at the beginning of the block.
  int64_t ofOperands(Operation *op) const {
    int64_t last = -1;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == &block)
        last = std::max(last, of(definition));
    return last;
  }

private:
  Block &block;
  DenseMap<Operation *, int64_t> places;
};

using Group = SmallVector<Operation *>;

/// The batches of a block, numbered as above; each has its ops in the order of their places.
SmallVector<Group> findStartBatches(Block &block, const Rounds &rounds, uint64_t groupBytes) {
  Places places(block);
  SmallVector<Operation *> byAvailability;
  for (Operation &op : block)
    if (canStart(&op))
      byAvailability.push_back(&op);
  llvm::stable_sort(byAvailability,
                    [&](Operation *a, Operation *b) { return places.ofOperands(a) < places.ofOperands(b); });

  // A batch has the place of its last op in that order.
  llvm::MapVector<size_t, Group> batches;
  llvm::MapVector<MergeKey, Batch> open;
  auto close = [&](const Batch &batch, size_t place) {
    batches[place] = llvm::map_to_vector(batch.ops, [](AllReduceOp op) { return op.getOperation(); });
  };
  DenseMap<Operation *, size_t> order;
  for (auto [place, op] : llvm::enumerate(byAvailability)) {
    order[op] = place;
    // What this op may need has to come before it, without operands that are to come.
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

  SmallVector<std::pair<size_t, Group>> inOrder = batches.takeVector();
  llvm::sort(inOrder, [](const auto &a, const auto &b) { return a.first < b.first; });
  SmallVector<Group> result;
  for (auto &[place, group] : inOrder) {
    llvm::sort(group, [&](Operation *a, Operation *b) { return places.of(a) < places.of(b); });
    result.push_back(std::move(group));
  }
  return result;
}

/// Orders the ops of a block by stage, keeping the order within a stage.
void sortByStage(Block &block, ArrayRef<Group> batches) {
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
  for (const Group &batch : batches) { // ops that become one are in one place
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

/// How many ops before each place of a block compute something.
SmallVector<int64_t> countWork(Block &block) {
  SmallVector<int64_t> counts = {0};
  for (Operation &op : block) {
    bool works = !isa<CollectiveOpInterface, WaitOp>(op) && !matchPattern(&op, m_Constant()) &&
                 !op.hasTrait<OpTrait::IsTerminator>();
    counts.push_back(counts.back() + works);
  }
  return counts;
}

/// Whether an operand is the result of another collective of the block: then it starts where it stands, if
/// that could be earlier at all.
bool needsAnother(Operation *collective) {
  return llvm::any_of(collective->getOperands(), [&](Value operand) {
    return isa_and_nonnull<CollectiveOpInterface, WaitOp>(operand.getDefiningOp());
  });
}

/// r = all_reduce(x) -> h = all_reduce_start(x) ; r = wait h
void startAndWait(Operation *collective, Operation *startBefore, Operation *waitBefore) {
  OperationState state(collective->getLoc(), (collective->getName().getStringRef() + "_start").str());
  state.addOperands(collective->getOperands());
  state.addAttributes(collective->getAttrs());
  state.addTypes(HandleType::get(collective->getContext(), SmallVector<Type>(collective->getResultTypes())));
  Operation *start = OpBuilder(startBefore).create(state);
  OpBuilder atWait(waitBefore);
  auto wait = WaitOp::create(atWait, collective->getLoc(), collective->getResultTypes(), start->getResult(0));
  collective->replaceAllUsesWith(wait.getResults());
}

/// What is gathered between a start and its first use.
struct Prefetched {
  int64_t start, use;
  uint64_t bytes;
};

/// The earliest place from `ready` to `use` behind which `bytes` more stay within the bound; `use` where
/// there is none.
int64_t findStart(ArrayRef<Prefetched> others, int64_t ready, int64_t use, uint64_t bytes, uint64_t bound) {
  // What is on its way becomes less only where something is used.
  SmallVector<int64_t> starts = {ready};
  for (const Prefetched &other : others)
    if (other.use > ready && other.use < use)
      starts.push_back(other.use);
  llvm::sort(starts);
  auto fits = [&](int64_t start) {
    // It becomes more only where something starts.
    auto fitsAt = [&](int64_t place) {
      uint64_t sum = bytes;
      for (const Prefetched &other : others)
        sum += other.start <= place && place < other.use ? other.bytes : 0;
      return sum <= bound || sum == bytes;
    };
    return fitsAt(start) && llvm::all_of(others, [&](const Prefetched &other) {
             return other.start < start || other.start >= use || fitsAt(other.start);
           });
  };
  const auto *found = llvm::find_if(starts, fits);
  return found == starts.end() ? use : *found;
}

/// Starts what has something to overlap with. Starts that are ready at one place keep the order of
/// `collectives`.
void startEarly(Block &block, ArrayRef<Operation *> collectives, uint64_t prefetch) {
  Places places(block);
  SmallVector<int64_t> work = countWork(block);
  SmallVector<Operation *> opAt = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  auto useOf = [&](Operation *collective) {
    int64_t use = opAt.size() - 1;
    for (Operation *user : collective->getUsers())
      use = std::min(use, places.of(user));
    return use;
  };
  DenseMap<Operation *, int64_t> readyAt;
  SmallVector<Operation *> gathers;
  for (Operation *collective : collectives) {
    readyAt[collective] = places.ofOperands(collective) + 1;
    if (isa<AllGatherOp>(collective) && !needsAnother(collective))
      gathers.push_back(collective);
  }
  llvm::stable_sort(gathers, [&](Operation *a, Operation *b) { return useOf(a) < useOf(b); });
  SmallVector<Prefetched> prefetched;
  for (Operation *gather : gathers) {
    uint64_t bytes = getTensorBytes(gather->getResultTypes());
    int64_t use = useOf(gather), start = findStart(prefetched, readyAt[gather], use, bytes, prefetch);
    prefetched.push_back({start, use, bytes});
    readyAt[gather] = start;
  }
  SmallVector<Operation *> started; // and kept until the end: others stand before them
  for (Operation *collective : collectives) {
    if (needsAnother(collective))
      continue;
    int64_t ready = readyAt[collective], use = useOf(collective);
    if (work[use] == work[ready])
      continue;
    startAndWait(collective, opAt[ready], opAt[use]);
    started.push_back(collective);
  }
  for (Operation *collective : started)
    collective->erase();
}

struct OverlapCollectives : impl::OverlapCollectivesPassBase<OverlapCollectives> {
  using OverlapCollectivesPassBase::OverlapCollectivesPassBase;

  void runOnOperation() override {
    WalkResult isComposite = getOperation().walk([](PayloadOpInterface op) {
      op->emitError("expected collectives, got the explicit form of one, whose ops cannot be started: "
                    "decompose or overlap, not both");
      return WalkResult::interrupt();
    });
    if (isComposite.wasInterrupted())
      return signalPassFailure();
    prefetchBytes = parseMemorySize(prefetch);
    if (!prefetchBytes) {
      mlir::emitError(getOperation().getLoc())
          << "expected prefetch to be a size such as 64MiB, or all, got " << prefetch;
      return signalPassFailure();
    }
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (block->mightHaveTerminator() && llvm::any_of(*block, [](Operation &op) { return canStart(&op); }))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      overlap(*block);
  }

private:
  void overlap(Block &block) {
    Rounds rounds(block);
    SmallVector<Group> batches = findStartBatches(block, rounds, groupBytes);
    sortByStage(block, batches);
    SmallVector<Operation *> collectives;
    for (const Group &batch : batches)
      collectives.push_back(batch.size() == 1 ? batch.front()
                                              : merge(llvm::map_to_vector(batch, [](Operation *op) {
                                                  return cast<AllReduceOp>(op);
                                                })));
    startEarly(block, collectives, *prefetchBytes);
  }

  std::optional<uint64_t> prefetchBytes;
};

} // namespace
} // namespace cgx
