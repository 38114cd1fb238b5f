//===-- HoistReductions.cpp - hoists reductions out of loops ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction is linear: acc + L(R(x1)) + ... + L(R(xn)) = acc + R(L(x1) + ... + L(xn)), for R a sum or a
// mean over the ranks and L a linear map that is the same on all of them. So a loop that accumulates
// reductions may accumulate each rank's own values, which are reduced once after it.
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "LinearMaps.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/IR/Matchers.h"

namespace cgx {
#define GEN_PASS_DEF_HOISTREDUCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// An operand of a reduction whose result, or a linear map of it, is only added to a value that the loop
/// carries, and that nothing else reads.
struct Accumulation {
  unsigned operand;
  Operation *sum;   ///< the addition, or a subtraction from what is carried
  unsigned carried; ///< position among what the loop carries
};

/// Returns the one user of a value, and null if there is another number of them.
Operation *onlyUser(Value value) { return value.hasOneUse() ? *value.getUsers().begin() : nullptr; }

std::optional<Accumulation> matchAccumulation(stablehlo::WhileOp loop, OpResult reduced) {
  Block &body = loop.getBody().front();
  auto type = dyn_cast<RankedTensorType>(reduced.getType());
  if (!type || !type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1))
    return std::nullopt;
  Value value = reduced;
  Operation *user = onlyUser(value);
  for (; user && getLinearOperand(user) && commutesWithRanks(user); user = onlyUser(value))
    value = user->getResult(0);
  if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(user) || user->getBlock() != &body)
    return std::nullopt;
  bool isRight = user->getOperand(1) == value;
  auto sum = dyn_cast<BlockArgument>(user->getOperand(isRight ? 0 : 1));
  if (!sum || sum.getOwner() != &body || !sum.hasOneUse() || (isa<stablehlo::SubtractOp>(user) && !isRight) ||
      onlyUser(user->getResult(0)) != body.getTerminator())
    return std::nullopt;
  unsigned carried = sum.getArgNumber();
  bool comesBack = body.getTerminator()->getOperand(carried) == user->getResult(0);
  if (!comesBack || !loop.getCond().front().getArgument(carried).use_empty())
    return std::nullopt;
  return Accumulation{reduced.getResultNumber(), user, carried};
}

bool isZero(Value value) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

Value zeroOf(OpBuilder &builder, Location location, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return stablehlo::ConstantOp::create(builder, location, cast<ElementsAttr>(builder.getZeroAttr(tensor)));
}

/// Creates the all-reduce of the sums that a loop accumulates, after it, for `accumulations`, operands of
/// `reduce`.
AllReduceOp createAfter(stablehlo::WhileOp loop, AllReduceOp reduce, ArrayRef<Accumulation> accumulations,
                        int64_t id) {
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  SmallVector<Value> sums;
  SmallVector<Attribute> codecs, layers, reasons;
  ArrayAttr given = reduce.getExactReasonsAttr();
  for (const Accumulation &accumulation : accumulations) {
    sums.push_back(loop->getResult(accumulation.carried));
    codecs.push_back(reduce.getCodecs()[accumulation.operand]);
    layers.push_back(reduce.getLayers()[accumulation.operand]);
    if (given)
      reasons.push_back(given[accumulation.operand]);
  }
  auto hoisted = AllReduceOp::create(
      builder, reduce.getLoc(), ValueRange(sums).getTypes(), sums, reduce.getReduction(), id,
      reduce.getGroups(), builder.getArrayAttr(codecs), builder.getArrayAttr(layers), reduce.getAlgorithm(),
      reduce.getHierarchyAttr(), given ? builder.getArrayAttr(reasons) : ArrayAttr());
  return hoisted;
}

/// Moves operands of an all-reduce after its loop if their results are only accumulated there.
void hoist(AllReduceOp reduce, stablehlo::WhileOp loop, CollectiveIds &ids) {
  if (reduce.getReduction() != Reduction::Sum && reduce.getReduction() != Reduction::Mean)
    return;
  SmallVector<Accumulation> accumulations;
  for (OpResult result : reduce->getResults())
    if (std::optional<Accumulation> accumulation = matchAccumulation(loop, result))
      accumulations.push_back(*accumulation);
  if (accumulations.empty())
    return;

  bool areAll = accumulations.size() == reduce->getNumResults();
  OpBuilder builder(loop);
  SmallVector<Value> begins;
  SmallVector<unsigned> moved;
  for (const Accumulation &accumulation : accumulations) {
    OpOperand &begin = loop->getOpOperand(accumulation.carried);
    begins.push_back(begin.get());
    begin.set(zeroOf(builder, loop.getLoc(), begin.get().getType()));
    reduce->getResult(accumulation.operand).replaceAllUsesWith(reduce.getInputs()[accumulation.operand]);
    moved.push_back(accumulation.operand);
  }
  AllReduceOp hoisted =
      createAfter(loop, reduce, accumulations, areAll ? static_cast<int64_t>(reduce.getId()) : ids.take());
  builder.setInsertionPointAfter(hoisted);
  for (auto [i, accumulation] : llvm::enumerate(accumulations)) {
    Value local = loop->getResult(accumulation.carried), total = hoisted->getResult(i);
    if (!isZero(begins[i]))
      total =
          stablehlo::AddOp::create(builder, accumulation.sum->getLoc(), local.getType(), begins[i], total);
    local.replaceAllUsesExcept(total, hoisted);
  }
  dropOperands(reduce, moved);
}

struct HoistReductions : cgx::impl::HoistReductionsPassBase<HoistReductions> {
  void runOnOperation() override {
    CollectiveIds ids(getOperation());
    // Inner loops are visited first: a reduction that leaves one may also leave the next.
    getOperation().walk([&](stablehlo::WhileOp loop) {
      for (auto reduce : llvm::make_early_inc_range(loop.getBody().front().getOps<AllReduceOp>()))
        hoist(reduce, loop, ids);
    });
  }
};

} // namespace
