//===-- SplitReductions.cpp - a vector of gradients as its layers -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction over ranks works on each element by itself, whatever the reduction. So, for any way to cut a
// tensor into pieces, and any elementwise f,
//
//   R(concatenate(a, b))         = concatenate(R(a), R(b))
//   slice_i(concatenate(a, b))   = the piece i
//   slice_i(f(x, y))             = f(slice_i(x), slice_i(y))
//   R(0)                         = 0
//
// to the bit. If a result is sliced, these equations split the reduction of one vector of all gradients, and
// lead each piece to the parameter that it updates.
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "FlatElements.h"
#include "KeptElements.h"
#include "LinearMaps.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <set>

namespace cgx {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// Erases unused ops, and the ops that they alone used.
void eraseUnused(llvm::SetVector<Operation *> &candidates) {
  while (!candidates.empty()) {
    Operation *op = candidates.pop_back_val();
    if (isa<CollectiveOpInterface>(op) || !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *made = operand.getDefiningOp())
        candidates.insert(made);
    op->erase();
  }
}

/// Returns the runs into which slices cut a tensor.
SmallVector<FlatRange> getRuns(FlatRange whole, const SlicedFlow &flow) {
  std::set<int64_t> cuts{whole.begin, whole.end};
  for (const SlicedFlow::Slice &slice : flow.slices)
    cuts.insert({slice.range.begin, slice.range.end});
  SmallVector<FlatRange> runs;
  for (auto cut = cuts.begin(), next = std::next(cut); next != cuts.end(); ++cut, ++next)
    runs.push_back({*cut, *next});
  return runs;
}

/// Returns whether slices take most of a tensor, so that it was put together to be taken apart. A slice of an
/// activation, for example its last position after many sums with others, says nothing of the operands of the
/// reduction.
bool isTakenApart(FlatRange whole, const SlicedFlow &flow) {
  SmallVector<FlatRange> ranges;
  for (const SlicedFlow::Slice &slice : flow.slices)
    if (!(slice.range == whole))
      ranges.push_back(slice.range);
  llvm::sort(ranges);
  int64_t taken = 0, end = 0;
  for (FlatRange range : ranges) {
    taken += std::max<int64_t>(0, range.end - std::max(range.begin, end));
    end = std::max(end, range.end);
  }
  return 2 * taken > whole.size();
}

class ReductionSplitter {
public:
  explicit ReductionSplitter(ModuleOp module) : ids(module), values(module) {}

  /// Takes apart the operands of `reduce` whose results are sliced.
  void split(AllReduceOp reduce) {
    SmallVector<unsigned> positions;
    for (unsigned i = 0, e = reduce.getInputs().size(); i < e; ++i)
      if (splitOperand(reduce, i))
        positions.push_back(i);
    for (unsigned i : positions)
      if (Operation *made = reduce.getInputs()[i].getDefiningOp(); made && !isa<CollectiveOpInterface>(made))
        unused.insert(made);
    if (!positions.empty())
      dropOperands(reduce, positions);
  }

  /// Replaces slices of a concatenation of reductions by the parts that they are.
  void leadThrough(stablehlo::ConcatenateOp concatenate) {
    auto type = dyn_cast<RankedTensorType>(concatenate.getType());
    if (!type || !type.hasStaticShape() || !llvm::any_of(concatenate.getInputs(), isReduced))
      return;
    SlicedFlow flow = followToSlices(concatenate, values);
    if (!isTakenApart(getWholeRange(concatenate), flow))
      return;
    // Slices of slices come first: the pieces that they take make up the pieces that others take.
    llvm::sort(flow.slices, [](const SlicedFlow::Slice &a, const SlicedFlow::Slice &b) {
      return b.op->isBeforeInBlock(a.op);
    });
    ElementTaker taker(values);
    for (const SlicedFlow::Slice &slice : flow.slices) {
      Value result = slice.op->getResult(0), operand = slice.op->getOperand(0);
      FlatRange range = *getSlicedRange(slice.op, values);
      if (range == getWholeRange(operand))
        continue;
      Value taken = taker.take(operand, range, flow.ops);
      OpBuilder builder(slice.op);
      result.replaceAllUsesWith(
          reshapeTo(builder, taken, cast<RankedTensorType>(result.getType()).getShape()));
      unused.insert(slice.op);
    }
    joinRuns(flow, taker);
  }

  /// Erases unused ops at the end: facts about values are found by their addresses.
  void eraseWhatIsUnused() {
    eraseUnused(unused);
    for (AllReduceOp piece : pieces) {
      if (!piece->use_empty())
        continue;
      if (Operation *made = piece.getInputs()[0].getDefiningOp())
        unused.insert(made);
      piece->erase();
    }
    eraseUnused(unused);
  }

private:
  bool splitOperand(AllReduceOp reduce, unsigned i) {
    Value result = reduce.getResult(i), input = reduce.getInputs()[i];
    auto type = dyn_cast<RankedTensorType>(result.getType());
    // A layer that has a name was meant to be one.
    if (!type || !type.hasStaticShape() || !reduce.getLayer(i).getName().empty() || reduce.getOriginsAttr())
      return false;
    SlicedFlow flow = followToSlices(result, values);
    SmallVector<FlatRange> runs = getRuns(getWholeRange(result), flow);
    if (runs.size() < 2 || areSingleNumbers(runs) || !isTakenApart(getWholeRange(result), flow))
      return false;
    ElementTaker taker(values);
    OpBuilder builder(reduce);
    SmallVector<Value> results;
    for (FlatRange run : runs) {
      Value piece = taker.take(input, run, /*onTheWay=*/llvm::SetVector<Operation *>());
      if (!isZeroSplat(piece))
        piece = reducePiece(builder, reduce, i, withShapeOf(builder, piece, run, flow));
      results.push_back(piece);
    }
    Value whole = concatenateFlat(builder, reduce.getLoc(), results);
    result.replaceAllUsesWith(reshapeTo(builder, whole, type.getShape()));
    return true;
  }

  /// Returns whether the runs are many and small: numbers that were packed to travel together, not layers.
  static bool areSingleNumbers(ArrayRef<FlatRange> runs) {
    constexpr size_t kManyRuns = 64, kSmallRun = 128;
    return runs.size() > kManyRuns && runs.back().end / runs.size() < kSmallRun;
  }

  /// Returns the vector in the shape of its layer, which codecs may look at.
  static Value withShapeOf(OpBuilder &builder, Value piece, FlatRange run, const SlicedFlow &flow) {
    if (cast<RankedTensorType>(piece.getType()).getRank() == 1)
      for (const SlicedFlow::Slice &slice : flow.slices)
        if (slice.range == run && !slice.shape.empty())
          return reshapeTo(builder, piece, slice.shape);
    return piece;
  }

  Value reducePiece(OpBuilder &builder, AllReduceOp reduce, unsigned i, Value piece) {
    auto part =
        AllReduceOp::create(builder, reduce.getLoc(), piece.getType(), piece, reduce.getReduction(),
                            ids.take(), reduce.getGroups(), builder.getArrayAttr(reduce.getCodecs()[i]),
                            builder.getArrayAttr(reduce.getLayers()[i]), reduce.getAlgorithm(),
                            reduce.getHierarchyAttr(), getExactReasons(reduce, i));
    pieces.push_back(part);
    return part.getResult(0);
  }

  /// Returns whether `value` has the elements of a collective's result.
  static bool isReduced(Value value) {
    for (unsigned depth = 0; depth < 16; ++depth) {
      auto result = dyn_cast<OpResult>(value);
      if (!result)
        return false;
      if (isa<CollectiveOpInterface>(result.getOwner()))
        return true;
      SmallVector<Value> kept = getKeptOperands(result);
      llvm::erase_if(kept, [](Value operand) { return static_cast<bool>(getSplat(operand)); });
      if (kept.size() != 1)
        return false;
      value = kept[0];
    }
    return false;
  }

  /// Puts ops of which all runs were taken together from these, rather than computing them once more as a
  /// whole.
  void joinRuns(const SlicedFlow &flow, ElementTaker &taker) {
    for (Operation *op : flow.ops) {
      unused.insert(op);
      if (!isElementByElement(op) || isOpTriviallyDead(op))
        continue;
      Value whole = op->getResult(0);
      SmallVector<Value> runs;
      int64_t end = 0;
      for (auto &[range, run] : taker.getTaken(whole))
        if (range.begin == end) {
          end = range.end;
          runs.push_back(run);
        }
      // A run that is cut out of the whole is of no use here.
      bool areComputed = llvm::all_of(runs, [&](Value run) {
        return run.getDefiningOp() && run.getDefiningOp()->getName() == op->getName();
      });
      if (end != getWholeRange(whole).end || runs.size() < 2 || !areComputed)
        continue;
      Operation *last = op;
      for (Value run : runs)
        if (last->isBeforeInBlock(run.getDefiningOp()))
          last = run.getDefiningOp();
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(last);
      Value joined = concatenateFlat(builder, op->getLoc(), runs);
      whole.replaceAllUsesWith(
          reshapeTo(builder, joined, cast<RankedTensorType>(whole.getType()).getShape()));
    }
  }

  CollectiveIds ids;
  RankValues values;
  SmallVector<AllReduceOp> pieces;
  llvm::SetVector<Operation *> unused; ///< perhaps
};

struct SplitReductions : cgx::impl::SplitReductionsPassBase<SplitReductions> {
  void runOnOperation() override {
    ReductionSplitter splitter(getOperation());
    SmallVector<AllReduceOp> reductions;
    getOperation().walk([&](AllReduceOp op) {
      if (!op.isStarted())
        reductions.push_back(op);
    });
    for (AllReduceOp op : reductions)
      splitter.split(op);
    SmallVector<stablehlo::ConcatenateOp> concatenations;
    getOperation().walk([&](stablehlo::ConcatenateOp op) { concatenations.push_back(op); });
    for (stablehlo::ConcatenateOp op : concatenations)
      splitter.leadThrough(op);
    splitter.eraseWhatIsUnused();
  }
};

} // namespace
