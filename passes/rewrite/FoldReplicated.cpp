//===-- FoldReplicated.cpp - Do not reduce what is already equal ----------===//
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
// Each all-reduce of n bytes that goes saves 2 n (N - 1) / N bytes that leave each
// rank. `product` (x to the power N) does not occur in training steps and stays.
//
//===----------------------------------------------------------------------===//

#include "Replication.h"
#include "cgx/Passes/Rewrite.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace cgx {
#define GEN_PASS_DEF_FOLDREPLICATEDPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Whether the pass knows what `op` computes from equal operands of the given type.
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

/// What the collective computes from an operand that is equal on the ranks of each group.
Value foldOperand(OpBuilder &builder, CollectiveOpInterface op, Value operand, int64_t groupSize) {
  if (op.getReductionKind() != Reduction::Sum)
    return operand;
  return multiply(builder, op.getLoc(), operand, groupSize);
}

/// `op` without the operands, results, codecs, layers and reasons that are not in `kept`.
Operation *keepOperands(CollectiveOpInterface op, ArrayRef<unsigned> kept) {
  OpBuilder builder(op);
  auto select = [&](ArrayAttr array) {
    return builder.getArrayAttr(llvm::map_to_vector(kept, [&](unsigned i) { return array[i]; }));
  };
  op.setCodecsAttr(select(op.getCodecs()));
  op.setLayersAttr(select(op.getLayers()));
  if (auto reasons = op->getAttrOfType<ArrayAttr>(kExactReasonAttrName))
    op->setAttr(kExactReasonAttrName, select(reasons));
  if (op->hasAttr(kOriginsAttrName)) {
    SmallVector<Origin> origins = getOrigins(op);
    SmallVector<int64_t> keptOrigins;
    for (unsigned i : kept)
      keptOrigins.append({origins[i].first, origins[i].second});
    op->setAttr(kOriginsAttrName, builder.getDenseI64ArrayAttr(keptOrigins));
  }
  OperationState state(op.getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (unsigned i : kept) {
    state.operands.push_back(op.getInputs()[i]);
    state.types.push_back(op->getResult(i).getType());
  }
  Operation *smaller = builder.create(state);
  for (auto [number, i] : llvm::enumerate(kept))
    op->getResult(i).replaceAllUsesWith(smaller->getResult(number));
  return smaller;
}

struct FoldReplicated : impl::FoldReplicatedPassBase<FoldReplicated> {
  void runOnOperation() override {
    Replication replication(getOperation());
    // Collected first: a pre-order walk must not see ops that are made on the way.
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      replication.visit(op);
      if (auto collective = dyn_cast<CollectiveOpInterface>(op))
        fold(collective, replication);
    }
  }

private:
  void fold(CollectiveOpInterface op, Replication &replication) {
    std::optional<int64_t> groupSize = op.getGroups().getUniformSize();
    if (!groupSize)
      return;
    OpBuilder builder(op);
    SmallVector<unsigned> kept;
    for (auto [number, operand] : llvm::enumerate(op.getInputs())) {
      if (!canFold(op, getElementTypeOrSelf(operand.getType())) ||
          !replication.isReplicatedOver(operand, op.getGroups())) {
        kept.push_back(number);
        continue;
      }
      Value folded = foldOperand(builder, op, operand, *groupSize);
      if (folded != operand) { // the product and its factor
        replication.visit(folded.getDefiningOp()->getOperand(1).getDefiningOp());
        replication.visit(folded.getDefiningOp());
      }
      op->getResult(number).replaceAllUsesWith(folded);
    }
    if (kept.size() == op.getInputs().size())
      return;
    if (!kept.empty())
      replication.visit(keepOperands(op, kept));
    op.erase();
  }
};

} // namespace
} // namespace cgx
