//===-- HoistReductions.cpp - Reduce once behind a loop -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction is linear: acc + R(x1) + ... + R(xn) = acc + R(x1 + ... + xn), for R a sum or
// a mean over the ranks. So a loop that adds up reductions may add up what each rank
// has, and reduce that once.
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace cgx {
#define GEN_PASS_DEF_HOISTREDUCTIONSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// A reduction whose result is only added to a value that the loop carries, and that nothing else reads.
struct Accumulation {
  stablehlo::AddOp add;
  unsigned carried; ///< position among what the loop carries
};

/// The one user of a value, and null if there is another number of them.
Operation *onlyUser(Value value) { return value.hasOneUse() ? *value.getUsers().begin() : nullptr; }

std::optional<Accumulation> matchAccumulation(stablehlo::WhileOp loop, Value reduced) {
  Block &body = loop.getBody().front();
  auto add = dyn_cast_or_null<stablehlo::AddOp>(onlyUser(reduced));
  if (!add || add->getBlock() != &body)
    return std::nullopt;
  auto sum = dyn_cast<BlockArgument>(add.getLhs() == reduced ? add.getRhs() : add.getLhs());
  if (!sum || sum.getOwner() != &body || !sum.hasOneUse() ||
      onlyUser(add.getResult()) != body.getTerminator())
    return std::nullopt;
  unsigned carried = sum.getArgNumber();
  bool comesBack = body.getTerminator()->getOperand(carried) == add.getResult();
  if (!comesBack || !loop.getCond().front().getArgument(carried).use_empty())
    return std::nullopt;
  return Accumulation{add, carried};
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

/// Moves an all-reduce behind its loop, if all of its results are only added up there.
void hoist(AllReduceOp reduce, stablehlo::WhileOp loop) {
  if (reduce.getReductionKind() != Reduction::Sum && reduce.getReductionKind() != Reduction::Mean)
    return;
  SmallVector<Accumulation> accumulations;
  for (auto [input, result] : llvm::zip_equal(reduce.getInputs(), reduce->getResults())) {
    std::optional<Accumulation> accumulation = matchAccumulation(loop, result);
    if (!accumulation || !cast<RankedTensorType>(input.getType()).getElementType().isIntOrFloat())
      return;
    accumulations.push_back(*accumulation);
  }

  OpBuilder builder(loop);
  SmallVector<Value> begins;
  for (auto [i, accumulation] : llvm::enumerate(accumulations)) {
    OpOperand &begin = loop->getOpOperand(accumulation.carried);
    begins.push_back(begin.get());
    begin.set(zeroOf(builder, loop.getLoc(), begin.get().getType()));
    accumulation.add->replaceUsesOfWith(reduce->getResult(i), reduce.getInputs()[i]);
  }
  reduce->moveAfter(loop);
  builder.setInsertionPointAfter(reduce);
  for (auto [i, accumulation] : llvm::enumerate(accumulations)) {
    Value local = loop->getResult(accumulation.carried), total = reduce->getResult(i);
    if (!isZero(begins[i]))
      total = stablehlo::AddOp::create(builder, accumulation.add.getLoc(), local.getType(), begins[i],
                                       reduce->getResult(i));
    local.replaceAllUsesWith(total);
    reduce->setOperand(static_cast<unsigned>(i), local);
  }
}

struct HoistReductions : impl::HoistReductionsPassBase<HoistReductions> {
  void runOnOperation() override {
    // Inner loops first: what comes out of one may come out of the next.
    getOperation().walk([](stablehlo::WhileOp loop) {
      for (auto reduce : llvm::make_early_inc_range(loop.getBody().front().getOps<AllReduceOp>()))
        hoist(reduce, loop);
    });
  }
};

} // namespace
} // namespace cgx
