//===-- StartCollectives.cpp - Compute while ranks exchange ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemorySize.h"
#include "StageOrder.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/layers/Options.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace cgx {
#define GEN_PASS_DEF_STARTCOLLECTIVESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns how many ops before each place of a block compute something.
SmallVector<int64_t> countWork(Block &block) {
  SmallVector<int64_t> counts = {0};
  for (Operation &op : block) {
    bool works = !isa<CollectiveOpInterface, StartOp, WaitOp>(op) && !matchPattern(&op, m_Constant()) &&
                 !op.hasTrait<OpTrait::IsTerminator>();
    counts.push_back(counts.back() + works);
  }
  return counts;
}

/// Returns whether an operand is the result of another collective of the block: such a collective is not
/// split into start and wait.
bool needsAnother(Operation *collective) {
  return llvm::any_of(collective->getOperands(), [&](Value operand) {
    return isa_and_nonnull<CollectiveOpInterface, WaitOp>(operand.getDefiningOp());
  });
}

/// Splits a collective: r = all_reduce(x) -> h = start all_reduce(x) ; r = wait h.
void startAndWait(Operation *collective, Operation *startBefore, Operation *waitBefore) {
  auto handle = HandleType::get(collective->getContext(), SmallVector<Type>(collective->getResultTypes()));
  OpBuilder atStart(startBefore), atWait(waitBefore);
  auto start = StartOp::create(atStart, collective->getLoc(), handle, /*condition=*/Value());
  start.getRegion().emplaceBlock().push_back(collective->clone());
  auto wait = WaitOp::create(atWait, collective->getLoc(), collective->getResultTypes(), start.getHandle());
  collective->replaceAllUsesWith(wait.getResults());
}

/// A gather from its start to its first use.
struct Prefetched {
  int64_t start, use;
  uint64_t bytes;
};

/// Returns the earliest place from `ready` to `use` after which `bytes` more stay within the bound; `use`
/// where there is none.
int64_t findStart(ArrayRef<Prefetched> others, int64_t ready, int64_t use, uint64_t bytes, uint64_t bound) {
  // The prefetched bytes decrease only where a gather is used.
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

/// Starts the collectives that have something to overlap with.
void startEarly(Block &block, uint64_t prefetch) {
  Places places(block);
  SmallVector<Operation *> collectives = getByAvailability(block, places);
  SmallVector<int64_t> work = countWork(block);
  SmallVector<Operation *> opAt = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  DenseMap<int64_t, int64_t> decodedAt; // payloads that are kept, by the gather's id
  for (auto gather : block.getOps<AllGatherOp>())
    if (std::optional<int64_t> id = gather.getDecodesAgain())
      decodedAt.try_emplace(*id, places.of(gather));
  auto useOf = [&](Operation *collective) {
    int64_t use = opAt.size() - 1;
    for (Operation *user : collective->getUsers())
      use = std::min(use, places.of(user));
    auto decoded = decodedAt.find(cast<CollectiveOpInterface>(collective).getId());
    return decoded == decodedAt.end() ? use : std::min(use, decoded->second);
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

struct StartCollectives : impl::StartCollectivesPassBase<StartCollectives> {
  using StartCollectivesPassBase::StartCollectivesPassBase;

  void runOnOperation() override {
    WalkResult isComposite = getOperation().walk([](PayloadOpInterface op) {
      op->emitError("expected collectives, got the explicit form of one, whose ops cannot be started: "
                    "decompose or overlap, not both");
      return WalkResult::interrupt();
    });
    if (isComposite.wasInterrupted())
      return signalPassFailure();
    std::optional<uint64_t> bytes = layers::parseMemorySize(prefetch);
    if (!bytes) {
      mlir::emitError(getOperation().getLoc())
          << "expected prefetch to be a size such as 64MiB, or all, got " << prefetch;
      return signalPassFailure();
    }
    forEachBlockWithStarts(getOperation(), [&](Block &block) { startEarly(block, *bytes); });
  }
};

} // namespace
} // namespace cgx
