//===-- RoundFacts.cpp - Facts about values in each round of loops --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product with zeros counts as zeros, and so does a sum of zeros; their sign does not count. Callers must
// decide whether a product of a zero and an infinity matters.
//
//===----------------------------------------------------------------------===//

#include "RoundFacts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cgx {

/// The largest schedule that is tracked: it has a number for each microbatch, and for each round.
constexpr int64_t kLargestSchedule = 1024;

static RankedTensorType tensorTypeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

static int64_t rowsOf(Value value) {
  RankedTensorType type = tensorTypeOf(value);
  return type && type.getRank() > 0 && type.hasStaticShape() ? type.getDimSize(0) : 1;
}

static bool isSmall(Value value) {
  RankedTensorType type = tensorTypeOf(value);
  return type && type.hasStaticShape() && type.getNumElements() <= kLargestSchedule;
}

/// Returns whether the region combines zeros to a zero.
static bool keepsZeros(Region &region) {
  Block &block = region.front();
  if (llvm::hasSingleElement(block)) // takes one of the two
    return isa<BlockArgument>(block.getTerminator()->getOperand(0));
  return std::distance(block.begin(), block.end()) == 2 &&
         isa<stablehlo::AddOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp, stablehlo::OrOp>(
             block.front());
}

//===----------------------------------------------------------------------===//
// Queries of facts
//===----------------------------------------------------------------------===//

RowRanks RoundFacts::zeroOf(Value value, Frame &frame) const {
  const Fact *fact = frame.factOf(value);
  return fact ? fact->zero : RowRanks();
}

std::optional<SmallVector<int64_t>> RoundFacts::scalarOf(Value value, Frame &frame) const {
  const Fact *fact = frame.factOf(value);
  if (!fact || !fact->integers)
    return std::nullopt;
  const auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(value));
  const bool isUnsigned = integer && (integer.isUnsigned() || integer.getWidth() == 1);
  SmallVector<int64_t> numbers;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    ArrayRef<llvm::APInt> elements = fact->integers->of(rank);
    if (elements.size() != 1 || elements[0].getBitWidth() > 64)
      return std::nullopt;
    numbers.push_back(isUnsigned ? static_cast<int64_t>(elements[0].getZExtValue())
                                 : elements[0].getSExtValue());
  }
  return numbers;
}

std::pair<llvm::BitVector, llvm::BitVector> RoundFacts::choicesOf(Value predicate, Frame &frame) const {
  const Fact *fact = frame.factOf(predicate);
  // The predicate of a large choice is not evaluated.
  for (auto repeated = predicate.getDefiningOp<stablehlo::BroadcastInDimOp>();
       repeated && !(fact && fact->integers);
       repeated = repeated.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>())
    fact = frame.factOf(repeated.getOperand());
  llvm::BitVector first(ranks), second(ranks);
  if (!fact || !fact->integers)
    return {first, second};
  for (unsigned rank = 0; rank < ranks; ++rank) {
    ArrayRef<llvm::APInt> elements = fact->integers->of(rank);
    first[rank] = llvm::none_of(elements, [](const llvm::APInt &each) { return each.isZero(); });
    second[rank] =
        !first[rank] && llvm::all_of(elements, [](const llvm::APInt &each) { return each.isZero(); });
  }
  return {first, second};
}

std::optional<SmallVector<llvm::BitVector>> RoundFacts::branchesOf(Operation *op, Frame &frame) const {
  if (!isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> index = scalarOf(op->getOperand(0), frame);
  if (!index)
    return std::nullopt;
  const int64_t last = op->getNumRegions() - 1;
  SmallVector<llvm::BitVector> taken(op->getNumRegions(), llvm::BitVector(ranks));
  for (auto [rank, number] : llvm::enumerate(*index)) {
    const int64_t region = isa<stablehlo::IfOp>(op)      ? (number == 0)
                           : number < 0 || number > last ? last
                                                         : number;
    taken[region].set(rank);
  }
  return taken;
}

std::optional<SmallVector<int64_t>> RoundFacts::firstRowOf(stablehlo::DynamicSliceOp slice,
                                                           Frame &frame) const {
  if (slice->getNumOperands() < 2)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> first = scalarOf(slice->getOperand(1), frame);
  if (first)
    for (int64_t &row : *first)
      row = std::clamp<int64_t>(row, 0, rowsOf(slice->getOperand(0)) - rowsOf(slice->getResult(0)));
  return first;
}

std::optional<RowUpdate> RoundFacts::rowUpdateOf(Operation *op, Frame &frame) const {
  RowUpdate update;
  std::optional<SmallVector<int64_t>> first;
  if (isa<stablehlo::DynamicUpdateSliceOp>(op)) {
    update.base = op->getOperand(0);
    update.update = op->getOperand(1);
    if (op->getNumOperands() < 3 || tensorTypeOf(update.base).getShape().drop_front() !=
                                        tensorTypeOf(update.update).getShape().drop_front())
      return std::nullopt;
    update.count = rowsOf(update.update);
    first = scalarOf(op->getOperand(2), frame);
    if (first)
      for (int64_t &row : *first)
        row = std::clamp<int64_t>(row, 0, rowsOf(update.base) - update.count);
  } else if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op); scatter && scatter.getInputs().size() == 1) {
    // x.at[i].set(row)
    stablehlo::ScatterDimensionNumbersAttr numbers = scatter.getScatterDimensionNumbers();
    update.base = scatter.getInputs().front();
    update.update = scatter.getUpdates().front();
    RankedTensorType to = tensorTypeOf(update.base), from = tensorTypeOf(update.update);
    Block &body = op->getRegion(0).front();
    const bool replaces =
        llvm::hasSingleElement(body) && body.getTerminator()->getOperand(0) == body.getArgument(1);
    if (!replaces || to.getRank() == 0 || from.getShape() != to.getShape().drop_front() ||
        static_cast<int64_t>(numbers.getUpdateWindowDims().size()) != from.getRank() ||
        numbers.getInsertedWindowDims() != ArrayRef<int64_t>{0} ||
        numbers.getScatterDimsToOperandDims() != ArrayRef<int64_t>{0})
      return std::nullopt;
    first = scalarOf(scatter.getScatterIndices(), frame);
    if (first)
      for (int64_t &row : *first)
        row = row < rowsOf(update.base) ? row : -1;
  }
  if (!first || rowsOf(update.base) > kLargestSchedule)
    return std::nullopt;
  update.first = std::move(*first);
  return update;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void RoundFacts::run(Frame &frame) {
  for (Operation &op : frame.block) {
    if (left == 0)
      return;
    --left;
    visit(op, frame);
  }
}

void RoundFacts::visit(Operation &op, Frame &frame) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return runLoop(loop, frame);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return runBranches(&op, frame);
  for (OpResult result : op.getResults()) {
    Fact fact = factOfResult(result, frame);
    if (fact.integers || !fact.zero.isNone())
      frame.facts[result] = std::move(fact);
  }
}

void RoundFacts::runLoop(stablehlo::WhileOp loop, Frame &frame) {
  auto factsOf = [](ValueRange values, Frame &frame) {
    SmallVector<Fact> facts;
    for (Value value : values) {
      const Fact *fact = frame.factOf(value);
      facts.push_back(fact ? *fact : Fact());
    }
    return facts;
  };
  auto enter = [&](Region &region, ArrayRef<Fact> carried) {
    Frame inside(region.front(), &frame);
    for (auto [argument, fact] : llvm::zip_equal(region.getArguments(), carried))
      inside.facts[argument] = fact;
    run(inside);
    return inside;
  };
  std::vector<SmallVector<Fact>> rounds;
  SmallVector<Fact> carried = factsOf(loop.getOperand(), frame);
  while (left != 0) {
    Frame condition = enter(loop.getCond(), carried);
    const auto [goesOn, ends] = choicesOf(loop.getCond().front().getTerminator()->getOperand(0), condition);
    if (ends.all()) {
      for (auto [result, fact] : llvm::zip_equal(loop.getResults(), carried))
        frame.facts[result] = fact;
      frame.rounds[loop] = std::move(rounds);
      return;
    }
    if (!goesOn.all())
      return; // the step decides that while it runs
    Frame body = enter(loop.getBody(), carried);
    rounds.push_back(std::move(carried));
    carried = factsOf(loop.getBody().front().getTerminator()->getOperands(), body);
  }
}

void RoundFacts::runBranches(Operation *op, Frame &frame) {
  std::optional<SmallVector<llvm::BitVector>> taken = branchesOf(op, frame);
  if (!taken)
    return;
  for (auto [region, on] : llvm::zip_equal(op->getRegions(), *taken)) {
    if (on.none())
      continue;
    Frame branch(region.front(), &frame);
    run(branch);
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), region.front().getTerminator()->getOperands())) {
      frame.facts[result].zero.unite(zeroOf(value, branch).on(on));
      if (const Fact *fact = branch.factOf(value); fact && on.all())
        frame.facts[result].integers = fact->integers;
    }
  }
}

Fact RoundFacts::factOfResult(OpResult result, Frame &frame) {
  Fact fact;
  Operation *op = result.getOwner();
  fact.zero = zeroOfResult(result, frame);
  if (!isSmall(result) || !getElementTypeOrSelf(result).isInteger())
    return fact;
  SmallVector<const RankValues::Integers *> operands;
  for (Value operand : op->getOperands()) {
    const Fact *known = frame.factOf(operand);
    if (!known || !known->integers)
      return fact;
    operands.push_back(known->integers.get());
  }
  if (std::optional<RankValues::Integers> integers = values.evaluate(op, operands))
    fact.integers = std::make_shared<const RankValues::Integers>(std::move(*integers));
  return fact;
}

//===----------------------------------------------------------------------===//
// Zeros
//===----------------------------------------------------------------------===//

static bool isZeroConstant(stablehlo::ConstantOp constant) {
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<llvm::APFloat>().isZero();
  return elements.getElementType().isInteger() && elements.getSplatValue<llvm::APInt>().isZero();
}

RowRanks RoundFacts::zeroOfUpdate(const RowUpdate &update, Frame &frame) const {
  RowRanks zero = zeroOf(update.base, frame);
  const llvm::BitVector written = whollyZero(update.update, frame);
  if (zero.isNone() && written.none())
    return {};
  const int64_t rows = rowsOf(update.base);
  for (unsigned rank = 0; rank < ranks; ++rank)
    for (int64_t row = update.first[rank]; row >= 0 && row < update.first[rank] + update.count; ++row)
      if (zero.has(row, rank) != written.test(rank))
        zero.set(row, rank, written.test(rank), rows, ranks);
  return zero;
}

RowRanks RoundFacts::zeroOfResult(OpResult result, Frame &frame) const {
  Operation *op = result.getOwner();
  auto byRow = [&](unsigned operand) { return zeroOf(op->getOperand(operand), frame); };
  auto whole = [&](unsigned operand) { return RowRanks(whollyZero(op->getOperand(operand), frame)); };
  auto both = [](RowRanks a, const RowRanks &b) {
    a.intersect(b);
    return a;
  };
  auto either = [](RowRanks a, const RowRanks &b) {
    a.unite(b);
    return a;
  };
  if (std::optional<RowUpdate> update = rowUpdateOf(op, frame))
    return zeroOfUpdate(*update, frame);
  return llvm::TypeSwitch<Operation *, RowRanks>(op)
      .Case([&](stablehlo::ConstantOp constant) {
        return isZeroConstant(constant) ? RowRanks(llvm::BitVector(ranks, true)) : RowRanks();
      })
      .Case<stablehlo::OptimizationBarrierOp>([&](auto) { return byRow(result.getResultNumber()); })
      .Case<stablehlo::ConvertOp, stablehlo::NegOp, stablehlo::AbsOp, stablehlo::ReducePrecisionOp>(
          [&](auto) { return byRow(0); })
      .Case<stablehlo::ReshapeOp>(
          [&](auto) { return rowsOf(op->getOperand(0)) == rowsOf(result) ? byRow(0) : whole(0); })
      .Case<stablehlo::BroadcastInDimOp, stablehlo::TransposeOp, stablehlo::ReverseOp, stablehlo::SliceOp,
            stablehlo::GatherOp>([&](auto) { return whole(0); })
      .Case([&](stablehlo::DynamicSliceOp slice) {
        RowRanks from = byRow(0);
        std::optional<SmallVector<int64_t>> first = from.isByRow() ? firstRowOf(slice, frame) : std::nullopt;
        if (!first)
          return RowRanks(from.ofAll(ranks));
        llvm::BitVector zero(ranks, true);
        for (unsigned rank = 0; rank < ranks; ++rank)
          for (int64_t row = 0; row < rowsOf(result); ++row)
            if (!from.has((*first)[rank] + row, rank))
              zero.reset(rank);
        return RowRanks(std::move(zero));
      })
      .Case<stablehlo::PadOp, stablehlo::DynamicUpdateSliceOp>([&](auto) { return both(whole(0), whole(1)); })
      .Case<stablehlo::ConcatenateOp>([&](auto) {
        RowRanks zero = whole(0);
        for (unsigned i = 1; i < op->getNumOperands(); ++i)
          zero.intersect(whole(i));
        return zero;
      })
      .Case<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::OrOp>(
          [&](auto) { return both(byRow(0), byRow(1)); })
      .Case<stablehlo::MulOp, stablehlo::AndOp>([&](auto) { return either(byRow(0), byRow(1)); })
      .Case<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp>(
          [&](auto) { return either(whole(0), whole(1)); })
      .Case<stablehlo::DivOp>([&](auto) { return byRow(0); })
      .Case([&](stablehlo::SelectOp select) {
        const auto [first, second] = choicesOf(select.getPred(), frame);
        RowRanks zero = both(byRow(1), byRow(2));
        zero.unite(byRow(1).on(first));
        zero.unite(byRow(2).on(second));
        return zero;
      })
      .Case<stablehlo::ReduceOp>([&](auto) {
        return op->getNumOperands() == 2 && keepsZeros(op->getRegion(0)) ? both(whole(0), whole(1))
                                                                         : RowRanks();
      })
      .Case([&](stablehlo::ScatterOp scatter) {
        return scatter.getInputs().size() == 1 && keepsZeros(op->getRegion(0)) ? both(whole(0), whole(2))
                                                                               : RowRanks();
      })
      .Case([&](PermuteOp permute) {
        const llvm::BitVector sent = whollyZero(op->getOperand(result.getResultNumber()), frame);
        llvm::BitVector zero(ranks, true); // who is no target gets zeros
        for (auto [source, target] : permute.getPairs())
          zero[target] = sent.test(source);
        return RowRanks(std::move(zero));
      })
      .Case([&](AllReduceOp reduce) {
        const bool isLinear =
            reduce.getReduction() == Reduction::Sum || reduce.getReduction() == Reduction::Mean;
        RowRanks summed = whole(result.getResultNumber());
        return isLinear && summed.ofAll(ranks).all() ? summed : RowRanks();
      })
      .Default([](Operation *) { return RowRanks(); });
}

} // namespace cgx
