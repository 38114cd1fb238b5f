//===-- FoldReplicated.cpp - Removes reductions of equal values -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Let x be equal on the N ranks of a group. Then
//
//   all_reduce sum(x)  = x + ... + x = N * x
//   all_reduce mean(x) = x,   max(x) = x,   min(x) = x
//   broadcast(x)       = x
//
// Each removed all-reduce of n bytes saves 2 n (N - 1) / N bytes that leave each rank. `product` (x to the
// power N) does not occur in training steps and stays.
//
// Only values that the program makes equal count: no argument is believed to be, whatever its sharding says.
// If one were not, the reduction would be the only op that makes ranks equal.
//
//===----------------------------------------------------------------------===//

#include "FoldedReductions.h"
#include "Replication.h"
#include "cgx/Passes/Rewrite.h"

#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace cgx {
#define GEN_PASS_DEF_FOLDREPLICATEDPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns whether the pass knows what `op` computes from equal operands of the given type.
bool canFold(CollectiveOpInterface op, Type elementType) {
  if (isa<BroadcastOp>(op))
    return true;
  if (!isa<AllReduceOp>(op))
    return false;
  // A sum of booleans is no product.
  if (op.getReductionKind() == Reduction::Sum)
    return !elementType.isInteger(1);
  return op.getReductionKind() != Reduction::Product;
}

Value multiply(OpBuilder &builder, Location location, Value value, int64_t factor) {
  auto type = cast<RankedTensorType>(value.getType());
  Attribute element = isa<FloatType>(type.getElementType())
                          ? Attribute(FloatAttr::get(type.getElementType(), static_cast<double>(factor)))
                          : Attribute(IntegerAttr::get(type.getElementType(), factor));
  Value splat = stablehlo::ConstantOp::create(builder, location, DenseElementsAttr::get(type, element));
  return stablehlo::MulOp::create(builder, location, type, value, splat);
}

/// Returns the result of the collective for an operand that is equal on the ranks of each group.
Value foldOperand(OpBuilder &builder, CollectiveOpInterface op, Value operand, int64_t groupSize) {
  if (op.getReductionKind() != Reduction::Sum)
    return operand;
  return multiply(builder, op.getLoc(), operand, groupSize);
}

/// A collective some of whose operands are replicated.
struct Fold {
  CollectiveOpInterface op;
  SmallVector<unsigned> kept; ///< positions of the others
};

/// Returns why the operand is equal, for reports.
std::string getReason(CollectiveOpInterface op, Value operand) {
  if (op.getGroups().isTrivial())
    return "each rank is a group of its own";
  CollectiveOpInterface source = Replication::findCollective(operand);
  if (!source)
    return "computed from constants alone";
  StringRef layer = source.getLayers().empty() ? "" : source.getLayer(0).getName();
  return ("computed from the result of " + source.getKind() +
          (layer.empty() ? " with id " + llvm::Twine(source.getId()) : " '" + layer + "'"))
      .str();
}

layers::FoldedReduction describe(CollectiveOpInterface op, unsigned number) {
  LayerAttr layer = op.getLayer(number);
  return {layer.getName().str(), stringifyLayerKind(layer.getKind()).str(), op.getKind().str(),
          getReason(op, op.getInputs()[number])};
}

struct FoldReplicated : impl::FoldReplicatedPassBase<FoldReplicated> {
  void runOnOperation() override {
    // All folds are decided before anything changes. The replacement of a result is replicated along the same
    // axes, so the decisions stay valid.
    SmallVector<Fold> folds = findFolds();
    if (folds.empty())
      return;
    OpBuilder builder(&getContext());
    SmallVector<Attribute> folded;
    if (auto earlier = getOperation()->getAttrOfType<ArrayAttr>(kFoldedAttrName))
      llvm::append_range(folded, earlier);
    for (Fold &fold : folds)
      for (unsigned i = 0, e = fold.op.getInputs().size(); i < e; ++i)
        if (!llvm::is_contained(fold.kept, i))
          folded.push_back(toAttribute(describe(fold.op, i), builder));
    getOperation()->setAttr(kFoldedAttrName, builder.getArrayAttr(folded));
    for (Fold &fold : folds)
      apply(fold);
  }

private:
  SmallVector<Fold> findFolds() {
    Replication replication(getOperation(), Replication::Believed::Nothing);
    SmallVector<Fold> folds;
    getOperation().walk([&](CollectiveOpInterface op) {
      if (!op.getGroups().getUniformSize() || op.isStarted())
        return;
      SmallVector<unsigned> kept;
      for (auto [number, operand] : llvm::enumerate(op.getInputs()))
        if (!canFold(op, getElementTypeOrSelf(operand.getType())) ||
            !replication.isReplicatedOver(operand, op.getGroups()))
          kept.push_back(number);
      if (kept.size() < op.getInputs().size())
        folds.push_back({op, kept});
    });
    return folds;
  }

  static void apply(Fold &fold) {
    CollectiveOpInterface op = fold.op;
    OpBuilder builder(op);
    for (auto [number, operand] : llvm::enumerate(op.getInputs()))
      if (!llvm::is_contained(fold.kept, number))
        op->getResult(number).replaceAllUsesWith(
            foldOperand(builder, op, operand, *op.getGroups().getUniformSize()));
    keepOperands(op, fold.kept);
  }
};

} // namespace
} // namespace cgx
