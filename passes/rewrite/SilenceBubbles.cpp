//===-- SilenceBubbles.cpp - Runs in which a pair sends nothing -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline's stages compute in each tick, also before their first microbatch and after their last one, and
// hand on meaningless results. These affect nothing: the last stage counts no loss of them, and their
// gradients are zero. The ticks depend on the rank and the schedule alone, so that the compiler can run the
// schedule, and both ends of an edge agree.
//
//===----------------------------------------------------------------------===//

#include "RoundNeeds.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace cgx {
#define GEN_PASS_DEF_SILENCEBUBBLESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// The bound on visits, a few seconds of compilation: 64 microbatches on 8 stages, with 20 000 ops in a tick.
constexpr uint64_t kMostVisits = uint64_t(1) << 23;
/// The bound on the digits of all pairs, which each rank keeps.
constexpr uint64_t kMostDigits = uint64_t(1) << 20;

struct SilenceBubbles : impl::SilenceBubblesPassBase<SilenceBubbles> {
  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<FunctionOpInterface>("main");
    if (!step || step.isExternal())
      return;
    SmallVector<PermuteOp> permutes;
    step.walk([&](PermuteOp op) {
      if (hasKnownRuns(op))
        permutes.push_back(op);
    });
    if (permutes.empty())
      return;
    RoundFacts facts(getOperation(), kMostVisits);
    Frame frame(step.getFunctionBody().front());
    facts.run(frame);
    RoundNeeds needs(facts, permutes);
    if (!facts.gaveUp())
      needs.run(frame);
    // Facts about one edge rely on facts about the others.
    const bool isComplete = !facts.gaveUp() && llvm::all_of(permutes, [&](PermuteOp op) {
      return needs.getRuns(op).size() == *getRunsPerStep(op);
    });
    if (isComplete)
      for (PermuteOp op : permutes)
        silence(op, needs.getRuns(op));
  }

private:
  /// Returns whether the op is only in loops that count.
  static bool hasKnownRuns(PermuteOp op) {
    Operation *parent = op->getParentOp();
    if (!isa<stablehlo::WhileOp>(parent) || op.getSends() || op.getPairs().empty())
      return false;
    for (; !isa<FunctionOpInterface>(parent); parent = parent->getParentOp())
      if (!isa<stablehlo::WhileOp>(parent))
        return false;
    std::optional<uint64_t> runs = getRunsPerStep(op);
    return runs && *runs != 0 && *runs <= kMostDigits / op.getPairs().size();
  }

  static void silence(PermuteOp op, ArrayRef<PermuteRun> runs) {
    SmallVector<std::string> sends(op.getPairs().size());
    bool isSilent = false;
    for (const PermuteRun &run : runs)
      for (auto [pair, digits] : llvm::enumerate(sends)) {
        // A stage that gets zeros in place of a message computes the same as in the first tick: if that was
        // finite, products with it that are zero stay so.
        const bool isUseless = run.isUnused.test(pair) && (runs.front().beginsWithZeros.test(pair) ||
                                                           runs.front().sendsZeros.test(pair));
        const bool sendsNothing = run.sendsZeros.test(pair) || isUseless;
        digits += sendsNothing ? '0' : '1';
        isSilent |= sendsNothing;
      }
    if (isSilent)
      keep(op, sends);
  }

  /// Keeps the pairs that send in some run.
  static void keep(PermuteOp op, ArrayRef<std::string> sends) {
    SmallVector<int64_t> pairs;
    SmallVector<StringRef> kept;
    bool isSilent = false;
    for (auto [pair, digits] : llvm::zip_equal(op.getPairs(), sends)) {
      if (!StringRef(digits).contains('1'))
        continue;
      pairs.append({pair.first, pair.second});
      kept.push_back(digits);
      isSilent |= StringRef(digits).contains('0');
    }
    Builder builder(op);
    auto type = RankedTensorType::get({static_cast<int64_t>(kept.size()), 2}, builder.getI64Type());
    op.setSourceTargetPairsAttr(DenseIntElementsAttr::get(type, ArrayRef<int64_t>(pairs)));
    if (isSilent)
      op.setSendsAttr(builder.getStrArrayAttr(kept));
  }
};

} // namespace
} // namespace cgx
