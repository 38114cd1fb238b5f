//===-- RoundNeeds.cpp - The values that a step needs in each round -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts are those of the step as it is written. They stay true when values change that are not needed, since
// the facts of a needed value depend on needed values only. That is why a product of two zeros needs one of
// them. Numbers of rounds and ranks come from no collective and do not change.
//
//===----------------------------------------------------------------------===//

#include "RoundNeeds.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace cgx {

static bool haveSameRows(Value a, Value b) {
  auto left = dyn_cast<RankedTensorType>(a.getType()), right = dyn_cast<RankedTensorType>(b.getType());
  return left && right && left.getRank() > 0 && right.getRank() > 0 &&
         left.getDimSize(0) == right.getDimSize(0);
}

static llvm::BitVector without(llvm::BitVector ranks, const llvm::BitVector &others) {
  return ranks.reset(others);
}

void RoundNeeds::need(Value value, const RowRanks &on, Frame &frame) {
  if (on.isNone())
    return;
  const Fact *fact = frame.factOf(value);
  if (!fact || !fact->integers)
    frame.of(value).needs[value].unite(on);
}

void RoundNeeds::needAll(Operation *op, Frame &frame) {
  const RowRanks everywhere(llvm::BitVector(ranks, true));
  op->walk([&](Operation *each) {
    for (Value operand : each->getOperands())
      if (each == op || !op->isAncestor(operand.getParentBlock()->getParentOp()))
        need(operand, everywhere, frame);
  });
}

void RoundNeeds::run(Frame &frame) {
  needAll(frame.block.getTerminator(), frame);
  visitBlock(frame);
  for (auto &[op, ofOp] : runs)
    std::reverse(ofOp.begin(), ofOp.end());
}

void RoundNeeds::visitBlock(Frame &frame) {
  for (Operation &op : llvm::reverse(frame.block.without_terminator()))
    visit(&op, frame);
}

void RoundNeeds::visit(Operation *op, Frame &frame) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op); loop && frame.rounds.contains(op))
    return visitLoop(loop, frame);
  if (auto permute = dyn_cast<PermuteOp>(op))
    return visitPermute(permute, frame);
  if (visitBranches(op, frame))
    return;
  const bool isElsewhere = isa<CommunicationOpInterface, RegionBranchOpInterface>(op);
  if (op->getNumResults() == 0 || isElsewhere || !isMemoryEffectFree(op))
    return needAll(op, frame);
  RowRanks needed;
  llvm::BitVector any(ranks);
  for (Value result : op->getResults()) {
    needed = needOf(result, frame);
    any |= needed.ofAny(ranks);
  }
  if (any.none())
    return;
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults()))
      need(operand, needOf(result, frame), frame);
    return;
  }
  if (auto select = dyn_cast<stablehlo::SelectOp>(op))
    return visitSelect(select, needed, frame);
  if (isa<stablehlo::MulOp, stablehlo::AndOp, stablehlo::DivOp>(op))
    return visitProduct(op, needed, frame);
  if (isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp>(op))
    return visitProduct(op, RowRanks(any), frame);
  if (std::optional<RowUpdate> update = facts.rowUpdateOf(op, frame))
    return visitUpdate(*update, needed, frame);
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op); slice && visitSlice(slice, RowRanks(any), frame))
    return;
  const bool keepsRows =
      op->getNumResults() == 1 && (op->hasTrait<OpTrait::Elementwise>() || isa<stablehlo::ReshapeOp>(op));
  for (Value operand : op->getOperands())
    need(operand, keepsRows && haveSameRows(operand, op->getResult(0)) ? needed : RowRanks(any), frame);
}

void RoundNeeds::visitLoop(stablehlo::WhileOp loop, Frame &frame) {
  SmallVector<RowRanks> carried =
      llvm::map_to_vector(loop.getResults(), [&](Value result) { return needOf(result, frame); });
  // The frame's own map may grow while the body runs.
  const std::vector<SmallVector<Fact>> rounds = frame.rounds.find(loop)->second;
  Block &block = loop.getBody().front();
  for (const SmallVector<Fact> &round : llvm::reverse(rounds)) {
    Frame body(block, &frame);
    for (auto [argument, fact] : llvm::zip_equal(block.getArguments(), round))
      body.facts[argument] = fact;
    facts.run(body);
    if (facts.gaveUp())
      return;
    for (auto [value, on] : llvm::zip_equal(block.getTerminator()->getOperands(), carried))
      need(value, on, body);
    visitBlock(body);
    carried =
        llvm::map_to_vector(block.getArguments(), [&](Value argument) { return needOf(argument, body); });
  }
  for (auto [operand, on] : llvm::zip_equal(loop.getOperand(), carried))
    need(operand, on, frame);
}

bool RoundNeeds::visitBranches(Operation *op, Frame &frame) {
  std::optional<SmallVector<llvm::BitVector>> taken = facts.branchesOf(op, frame);
  if (!taken)
    return false;
  for (auto [region, on] : llvm::zip_equal(op->getRegions(), *taken)) {
    if (on.none())
      continue;
    Frame branch(region.front(), &frame);
    facts.run(branch);
    if (facts.gaveUp())
      return true;
    for (auto [value, result] :
         llvm::zip_equal(region.front().getTerminator()->getOperands(), op->getResults()))
      need(value, needOf(result, frame).on(on), branch);
    visitBlock(branch);
  }
  return true;
}

void RoundNeeds::visitPermute(PermuteOp op, Frame &frame) {
  auto asked = runs.find(op);
  const unsigned pairs = op.getPairs().size();
  PermuteRun run{llvm::BitVector(pairs, true), llvm::BitVector(pairs, true), findBeginnings(op, frame)};
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op->getResults())) {
    const llvm::BitVector zero = facts.whollyZero(input, frame), needed = needOf(result, frame).ofAny(ranks);
    for (auto [number, pair] : llvm::enumerate(op.getPairs())) {
      if (!zero.test(pair.first))
        run.sendsZeros.reset(number);
      if (needed.test(pair.second))
        run.isUnused.reset(number);
    }
  }
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op->getResults())) {
    const llvm::BitVector needed = needOf(result, frame).ofAny(ranks);
    llvm::BitVector sources(ranks);
    for (auto [number, pair] : llvm::enumerate(op.getPairs()))
      if (needed.test(pair.second) && !(asked != runs.end() && run.sendsZeros.test(number)))
        sources.set(pair.first);
    need(input, RowRanks(std::move(sources)), frame);
  }
  if (asked != runs.end())
    asked->second.push_back(std::move(run));
}

/// Returns the bits of `PermuteRun::beginsWithZeros`.
llvm::BitVector RoundNeeds::findBeginnings(PermuteOp op, Frame &frame) const {
  llvm::BitVector begins(op.getPairs().size());
  Operation *loop = op->getParentOp();
  if (!frame.outer || !frame.outer->rounds.contains(loop) || frame.outer->rounds.find(loop)->second.empty())
    return begins;
  const SmallVector<Fact> &first = frame.outer->rounds.find(loop)->second.front();
  SmallVector<Value> passed(op->getResults());
  llvm::BitVector zero(ranks, true);
  bool isCarried = false;
  for (size_t i = 0; i < passed.size(); ++i)
    for (OpOperand &use : passed[i].getUses()) {
      if (use.getOwner() == frame.block.getTerminator()) {
        isCarried = true;
        zero &= first[use.getOperandNumber()].zero.ofAll(ranks);
      } else if (isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::ConvertOp>(use.getOwner())) {
        passed.push_back(use.getOwner()->getResult(0));
      }
    }
  for (auto [number, pair] : llvm::enumerate(op.getPairs()))
    begins[number] = isCarried && zero.test(pair.second);
  return begins;
}

void RoundNeeds::visitProduct(Operation *op, const RowRanks &needed, Frame &frame) {
  const bool isQuotient = isa<stablehlo::DivOp>(op);
  const llvm::BitVector left = facts.whollyZero(op->getOperand(0), frame),
                        right = isQuotient ? llvm::BitVector(ranks)
                                           : without(facts.whollyZero(op->getOperand(1), frame), left);
  const llvm::BitVector everywhere(ranks, true);
  need(op->getOperand(0), needed.on(without(everywhere, right)), frame);
  need(op->getOperand(1), needed.on(without(everywhere, left)), frame);
}

void RoundNeeds::visitSelect(stablehlo::SelectOp select, const RowRanks &needed, Frame &frame) {
  const auto [first, second] = facts.choicesOf(select.getPred(), frame);
  need(select.getOnTrue(), needed.on(without(llvm::BitVector(ranks, true), second)), frame);
  need(select.getOnFalse(), needed.on(without(llvm::BitVector(ranks, true), first)), frame);
  // Between zeros and zeros it does not matter.
  llvm::BitVector zeros = facts.whollyZero(select.getOnTrue(), frame);
  zeros &= facts.whollyZero(select.getOnFalse(), frame);
  llvm::BitVector undecided(ranks, true);
  undecided.reset(first).reset(second).reset(zeros);
  undecided &= needed.ofAny(ranks);
  need(select.getPred(), RowRanks(std::move(undecided)), frame);
}

void RoundNeeds::visitUpdate(const RowUpdate &update, const RowRanks &needed, Frame &frame) {
  const int64_t rows = cast<RankedTensorType>(update.base.getType()).getDimSize(0);
  llvm::BitVector written(ranks);
  RowRanks left = needed;
  for (unsigned rank = 0; rank < ranks; ++rank)
    for (int64_t row = update.first[rank]; row >= 0 && row < update.first[rank] + update.count; ++row)
      if (needed.has(row, rank)) {
        written.set(rank);
        left.set(row, rank, false, rows, ranks);
      }
  need(update.base, left, frame);
  need(update.update, RowRanks(std::move(written)), frame);
}

bool RoundNeeds::visitSlice(stablehlo::DynamicSliceOp slice, const RowRanks &needed, Frame &frame) {
  auto from = cast<RankedTensorType>(slice->getOperand(0).getType()),
       to = cast<RankedTensorType>(slice->getResult(0).getType());
  std::optional<SmallVector<int64_t>> first = facts.firstRowOf(slice, frame);
  if (!first || from.getDimSize(0) == to.getDimSize(0))
    return false;
  RowRanks rows;
  for (unsigned rank = 0; rank < ranks; ++rank)
    if (needed.has(0, rank))
      for (int64_t row = 0; row < to.getDimSize(0); ++row)
        rows.set((*first)[rank] + row, rank, true, from.getDimSize(0), ranks);
  need(slice->getOperand(0), rows, frame);
  for (Value start : slice->getOperands().drop_front())
    need(start, needed, frame);
  return true;
}

} // namespace cgx
