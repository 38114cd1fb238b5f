//===-- ReuseGathers.cpp - One gather serves all uses of a value ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fully sharded training gathers weights for the forward pass, frees them, and gathers them again for the
// backward pass. If memory allows, the gathered values are kept instead: the payloads, to be decoded again,
// where they are shorter, and else the values. If both passes are loops over layers, the first loop keeps the
// values of its trips as a stack, of which the second takes slices.
//
//===----------------------------------------------------------------------===//

#include "ReuseGathers.h"

#include "LoopCarry.h"
#include "LoopSlices.h"
#include "MemorySize.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/layers/Options.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <variant>

namespace cgx {
#define GEN_PASS_DEF_REUSEGATHERSPASS
#include "cgx/Passes/RewritePasses.h.inc"

using namespace mlir;

uint64_t getKeptPayloadBytes(CollectiveOpInterface op, unsigned operand) {
  RankedTensorType type = op.getInputType(operand);
  return op.getGroups().getLargestSize() *
         op.getCodec(operand).getPayloadBytes(type.getElementType(), type.getNumElements());
}

namespace {

/// Returns whether both gather in the same way; their operands may differ.
bool isAlike(AllGatherOp a, AllGatherOp b) {
  return a.getGroups() == b.getGroups() && a.getCodecsAttr() == b.getCodecsAttr() &&
         a.getInputs().size() == b.getInputs().size();
}

bool isSame(AllGatherOp a, AllGatherOp b) {
  return isAlike(a, b) && a.getDim() == b.getDim() && a->getResultTypes() == b->getResultTypes() &&
         llvm::all_of(llvm::zip_equal(a.getInputs(), b.getInputs()),
                      [](auto pair) { return cgx::isSame(std::get<0>(pair), std::get<1>(pair)); });
}

/// Returns whether both gather in the same way except for leading dimensions of size 1, which codecs do not
/// see.
bool isAlikeBehindOnes(AllGatherOp a, AllGatherOp b) {
  return isAlike(a, b) &&
         llvm::all_of(llvm::zip_equal(a->getResultTypes(), b->getResultTypes()), [&](auto pair) {
           auto left = cast<RankedTensorType>(std::get<0>(pair)),
                right = cast<RankedTensorType>(std::get<1>(pair));
           return isSameBehindOnes(left, right) &&
                  int64_t(a.getDim()) - left.getRank() == int64_t(b.getDim()) - right.getRank();
         });
}

/// Returns the bytes that the ranks together need not send, where a gather replaces `others`.
uint64_t getSavedBytes(AllGatherOp op, uint64_t others, int64_t ranks) {
  uint64_t bytes = 0;
  for (int64_t rank = 0; rank < ranks; ++rank)
    bytes += op.getWireBytes(rank);
  return bytes * others * getRunsPerStep(op).value_or(1);
}

/// Gathers of one value, in program order.
struct Gathers {
  SmallVector<AllGatherOp> ops;

  /// Returns whether payloads are kept. Payloads of `delta` cannot be decoded again without the earlier
  /// messages.
  bool keepsPayloads() const {
    AllGatherOp op = ops.front();
    return !op.getGroups().isTrivial() && getPayloadBytes() < getValueBytes() &&
           llvm::none_of(op.getCodecs(), llvm::IsaPred<DeltaAttr>);
  }

  /// Returns the bytes that a rank keeps from the first use to the last.
  uint64_t getHeldBytes() const { return keepsPayloads() ? getPayloadBytes() : getValueBytes(); }

private:
  uint64_t getValueBytes() const { return getTensorBytes(AllGatherOp(ops.front())->getResultTypes()); }
  uint64_t getPayloadBytes() const {
    uint64_t bytes = 0;
    AllGatherOp op = ops.front();
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
      bytes += getKeptPayloadBytes(op, i);
    return bytes;
  }
};

SmallVector<Gathers> findGathers(Block &block) {
  SmallVector<Gathers> all;
  for (auto op : block.getOps<AllGatherOp>()) {
    if (op.getDecodesAgain())
      continue;
    auto known = llvm::find_if(all, [&](const Gathers &gathers) { return isSame(gathers.ops.front(), op); });
    (known == all.end() ? all.emplace_back() : *known).ops.push_back(op);
  }
  llvm::erase_if(all, [](const Gathers &gathers) { return gathers.ops.size() == 1; });
  return all;
}

/// A gather in the body of a loop, and those in the bodies of later loops of
/// the block that gather the same slices, trip by trip.
struct LoopGathers {
  struct Later {
    AllGatherOp op;
    TripIndex index;
  };
  AllGatherOp kept;
  TripIndex index;
  SmallVector<Later> later;

  /// Returns the bytes that a rank keeps from the first loop to the last.
  uint64_t getHeldBytes() const { return index.trips * getTensorBytes(AllGatherOp(kept)->getResultTypes()); }

  /// Adds `op`, if it is in another loop and gathers the same slices.
  bool add(AllGatherOp op) {
    if (op->getBlock() == kept->getBlock() || !isAlikeBehindOnes(kept, op))
      return false;
    std::optional<TripIndex> own;
    for (auto [left, right] : llvm::zip_equal(kept.getInputs(), op.getInputs())) {
      auto indices = matchSlices(left, right);
      if (!indices || !index.isSame(indices->first) || !index.hasSameNumbers(indices->second) ||
          (own && !own->isSame(indices->second)))
        return false;
      own = indices->second;
    }
    later.push_back({op, *own});
    return true;
  }
};

/// Returns the gather as the first of a group, if it is one of slices that differ from
/// trip to trip.
std::optional<LoopGathers> beginWith(AllGatherOp op) {
  std::optional<TripIndex> index;
  for (Value input : op.getInputs()) {
    std::optional<TripIndex> own = getSliceIndex(input);
    if (!own || (index && !index->isSame(*own)))
      return std::nullopt;
    index = own;
  }
  Builder builder(op.getContext());
  auto hasZero = [&](Type type) { return bool(builder.getZeroAttr(type)); };
  if (!index || !llvm::all_of(op->getResultTypes(), hasZero))
    return std::nullopt;
  return LoopGathers{op, *index, {}};
}

SmallVector<LoopGathers> findLoopGathers(Block &block) {
  SmallVector<LoopGathers> all;
  for (auto loop : block.getOps<stablehlo::WhileOp>())
    for (auto op : loop.getBody().getOps<AllGatherOp>()) {
      // A gather that equals another of its block is in both groups, or in none.
      if (op.getDecodesAgain() || llvm::any_of(all, [&](LoopGathers &gathers) { return gathers.add(op); }))
        continue;
      if (std::optional<LoopGathers> first = beginWith(op))
        all.push_back(*first);
    }
  llvm::erase_if(all, [](const LoopGathers &gathers) { return gathers.later.empty(); });
  return all;
}

/// Something that may be kept: gathers of one block, or of loops.
struct Choice {
  uint64_t savedBytes = 0, heldBytes = 0;
  std::variant<Gathers, LoopGathers> gathers;
};

struct ReuseGathers : impl::ReuseGathersPassBase<ReuseGathers> {
  using ReuseGathersPassBase::ReuseGathersPassBase;

  void runOnOperation() override {
    std::optional<uint64_t> budget = layers::parseMemorySize(memory);
    if (!budget) {
      mlir::emitError(getOperation().getLoc()) << layers::checkReuseGathers(memory);
      return signalPassFailure();
    }
    gone.clear();
    SmallVector<Choice> choices = findChoices();
    // Choices that save most per byte come first. Among equals, the latest gather does, since it is kept for
    // the shortest time.
    std::reverse(choices.begin(), choices.end());
    llvm::stable_sort(choices, [&](const Choice &a, const Choice &b) {
      return double(a.savedBytes) * double(b.heldBytes) > double(b.savedBytes) * double(a.heldBytes);
    });
    uint64_t left = *budget;
    for (const Choice &choice : choices)
      if (choice.heldBytes <= left &&
          std::visit([&](const auto &gathers) { return reuse(gathers); }, choice.gathers))
        left -= choice.heldBytes;
  }

private:
  /// The gathers that a slice of a stack has replaced.
  llvm::DenseSet<Operation *> gone;

  SmallVector<Choice> findChoices() {
    int64_t ranks = 1;
    if (auto given = getOperation()->getAttrOfType<IntegerAttr>(kNumRanksAttrName))
      ranks = given.getInt();
    SmallVector<Choice> choices;
    getOperation().walk([&](Block *block) {
      for (const Gathers &gathers : findGathers(*block))
        choices.push_back({getSavedBytes(gathers.ops.front(), gathers.ops.size() - 1, ranks),
                           gathers.getHeldBytes(), gathers});
      for (const LoopGathers &gathers : findLoopGathers(*block))
        choices.push_back(
            {getSavedBytes(gathers.kept, gathers.later.size(), ranks), gathers.getHeldBytes(), gathers});
    });
    return choices;
  }

  void add(AllGatherOp op, StringRef name, int64_t number) {
    op->setAttr(name, Builder(&getContext()).getI64IntegerAttr(getReuses(op, name) + number));
  }

  bool reuse(const Gathers &gathers) {
    AllGatherOp kept = gathers.ops.front();
    // All of them, or none.
    if (gone.contains(kept))
      return false;
    if (gathers.keepsPayloads()) {
      decodeAgain(gathers, kept);
      return true;
    }
    for (AllGatherOp op : ArrayRef(gathers.ops).drop_front()) {
      add(kept, kReusesAttrName, getReuses(op) + 1);
      op->replaceAllUsesWith(kept->getResults());
      gone.insert(op);
      op->erase();
    }
    return true;
  }

  /// Makes the later gathers decode the kept payloads again: they stay, for their results, and encode
  /// nothing.
  void decodeAgain(const Gathers &gathers, AllGatherOp kept) {
    Builder builder(&getContext());
    const size_t operands = kept.getInputs().size();
    const SmallVector<Attribute> codecs(operands, getIdentityCodec(&getContext())),
        reasons(operands, builder.getStringAttr("decodes kept payloads again"));
    for (AllGatherOp op : ArrayRef(gathers.ops).drop_front()) {
      op.setDecodesAgain(kept.getId());
      op.setCodecsAttr(builder.getArrayAttr(codecs));
      op.setExactReasonsAttr(builder.getArrayAttr(reasons));
    }
    kept.setKeepsPayloads(true);
    add(kept, kReusesAttrName, int64_t(gathers.ops.size()) - 1);
  }

  /// Reuses gathers of loops: the loop of the one that is kept stacks each of its results, and later loops
  /// take slices.
  bool reuse(const LoopGathers &gathers) {
    AllGatherOp kept = gathers.kept;
    for (Value result : kept->getResults())
      keepTrips(kept, result, gathers.index);
    ValueRange stacks = kept->getParentOp()->getResults().take_back(kept->getNumResults());
    DenseMap<Block *, SmallVector<Value>> carried;
    for (auto [op, index] : gathers.later) {
      // A gather that another of its block has replaced is counted with that one.
      if (gone.contains(op))
        continue;
      SmallVector<Value> &own = carried[op->getBlock()];
      if (own.empty())
        for (Value stack : stacks)
          own.push_back(carry(cast<stablehlo::WhileOp>(op->getParentOp()), stack).second);
      const int64_t served = (op.getKeepsPayloads() ? 0 : getReuses(op)) + 1;
      add(kept, kReusesAttrName, served);
      add(kept, kLoopReusesAttrName, served);
      for (auto [result, stack] : llvm::zip_equal(op->getResults(), own))
        result.replaceAllUsesWith(takeTrip(op, stack, result.getType(), index));
      gone.insert(op);
      op->erase();
    }
    kept->setAttr(kKeptTripsAttrName,
                  Builder(&getContext()).getI64IntegerAttr(static_cast<int64_t>(gathers.index.trips)));
    return true;
  }

  /// Returns the loop with one more carried value, and this value in its body.
  static std::pair<stablehlo::WhileOp, BlockArgument> carry(stablehlo::WhileOp loop, Value initial) {
    stablehlo::WhileOp longer = carryThroughLoop(loop, initial);
    loop->replaceAllUsesWith(longer->getResults().drop_back());
    loop->erase();
    return {longer, longer.getBody().front().getArguments().back()};
  }

  /// Makes the values of all trips, by index, the last result of the loop.
  static void keepTrips(AllGatherOp kept, Value result, const TripIndex &index) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape{static_cast<int64_t>(index.trips)};
    llvm::append_range(shape, type.getShape());
    auto stackType = RankedTensorType::get(shape, type.getElementType());
    auto loop = cast<stablehlo::WhileOp>(kept->getParentOp());
    OpBuilder builder(loop);
    Value zeros = stablehlo::ConstantOp::create(builder, kept.getLoc(),
                                                cast<ElementsAttr>(builder.getZeroAttr(stackType)));
    auto [longer, stack] = carry(loop, zeros);
    builder.setInsertionPointAfter(kept);
    shape.front() = 1;
    Value update = stablehlo::ReshapeOp::create(builder, kept.getLoc(),
                                                RankedTensorType::get(shape, type.getElementType()), result);
    Value next =
        stablehlo::DynamicUpdateSliceOp::create(builder, kept.getLoc(), stackType, stack, update,
                                                placeOf(builder, kept.getLoc(), index, shape.size()));
    Operation *yield = longer.getBody().front().getTerminator();
    yield->setOperand(yield->getNumOperands() - 1, next);
  }

  /// Returns the value of the trip of this index in the stack.
  static Value takeTrip(AllGatherOp op, Value stack, Type type, const TripIndex &index) {
    OpBuilder builder(op);
    auto stackType = cast<RankedTensorType>(stack.getType());
    SmallVector<int64_t> shape(stackType.getShape());
    shape.front() = 1;
    Value slice = stablehlo::DynamicSliceOp::create(
        builder, op.getLoc(), RankedTensorType::get(shape, stackType.getElementType()), stack,
        placeOf(builder, op.getLoc(), index, shape.size()), shape);
    return stablehlo::ReshapeOp::create(builder, op.getLoc(), type, slice);
  }

  /// Returns where a stack has the value of this index.
  static SmallVector<Value> placeOf(OpBuilder &builder, Location location, const TripIndex &index,
                                    size_t rank) {
    auto type = cast<RankedTensorType>(index.value.getType());
    auto constant = [&](int64_t number) -> Value {
      return stablehlo::ConstantOp::create(
          builder, location,
          DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), number)));
    };
    Value place = index.value;
    if (int64_t lowest = index.getLowest(); lowest != 0)
      place = stablehlo::SubtractOp::create(builder, location, type, place, constant(lowest));
    SmallVector<Value> places(rank, constant(0));
    places.front() = place;
    return places;
  }
};

} // namespace
} // namespace cgx
