//===-- ReduceProducts.cpp - Moves reductions after products --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix product is linear in each factor. With a factor b that is the same on all ranks r,
//
//   (sum G_r) b   =   sum (G_r b)
//
// except for the order of additions. With low-rank adapters, w = base + a b, of which G is the gradient,
//
//   da = (sum G_r) b^T     db = a^T (sum G_r)
//
// the products have the elements of a and of b, which are few, and G those of w.
//
//===----------------------------------------------------------------------===//

#include "Replication.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {
#define GEN_PASS_DEF_REDUCEPRODUCTSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// A reduction whose result is used for these products alone.
struct Found {
  AllReduceOp op;
  unsigned operand;
  SmallVector<Operation *> maps; ///< in the order of the program: what leads from the result to the products
  SmallVector<Operation *> products; ///< likewise
};

/// Returns whether an op is linear on each rank alike in one operand, its others being constants, and keeps
/// the type.
bool isMap(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::NegOp>(op))
    return true;
  if (!isa<stablehlo::MulOp, stablehlo::DivOp>(op) ||
      (isa<stablehlo::DivOp>(op) && use.getOperandNumber() != 0))
    return false;
  Value other = op->getOperand(1 - use.getOperandNumber());
  if (auto broadcast = other.getDefiningOp<stablehlo::BroadcastInDimOp>())
    other = broadcast.getOperand();
  return matchPattern(other, m_Constant());
}

int64_t getBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

struct ReduceProducts : impl::ReduceProductsPassBase<ReduceProducts> {
  void runOnOperation() override {
    SmallVector<Found> found;
    getOperation().walk([&](AllReduceOp op) {
      CollectiveOpInterface collective = op;
      if (collective.isStarted() || !collective.acceptsLossyCodecs() || op.getHierarchy())
        return;
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        if (collective.getLayer(i).getKind() == LayerKind::Gradient)
          if (std::optional<Found> each = find(op, i))
            found.push_back(std::move(*each));
    });
    if (found.empty())
      return; // the common case costs one walk
    // The analysis runs before anything changes, since it knows nothing of values that are made here.
    Replication replication(getOperation(), Replication::Believed::KeptAlike);
    llvm::erase_if(found, [&](Found &each) { return !hasEqualFactors(each, replication); });
    if (found.empty())
      return;
    int64_t id = 0;
    getOperation().walk([&](CommunicationOpInterface op) { id = std::max(id, op.getId() + 1); });
    // Operands are moved from the last to the first, so that positions stay valid.
    for (Found &each : llvm::reverse(found))
      move(each, id);
    // Each product is the gradient of one parameter.
    OpPassManager labels(ModuleOp::getOperationName());
    labels.addPass(createLabelLayersPass());
    if (failed(runPipeline(labels, getOperation())))
      signalPassFailure();
  }

private:
  /// Returns the products that the reduction of an operand is used for, if it is used for nothing else and
  /// they have fewer bytes.
  static std::optional<Found> find(AllReduceOp op, unsigned operand) {
    Found found{op, operand, {}, {}};
    llvm::SetVector<Value> values;
    values.insert(op.getResult(operand));
    int64_t bytes = 0;
    for (size_t i = 0; i < values.size(); ++i)
      for (OpOperand &use : Value(values[i]).getUses()) {
        Operation *user = use.getOwner();
        if (user->getBlock() != op->getBlock() || user->getNumResults() != 1)
          return std::nullopt;
        if (isMap(use)) {
          if (values.insert(user->getResult(0)))
            found.maps.push_back(user);
          continue;
        }
        auto type = dyn_cast<RankedTensorType>(user->getResult(0).getType());
        if (!isa<stablehlo::DotGeneralOp>(user) || user->getOperand(0) == user->getOperand(1) || !type ||
            !type.hasStaticShape() || !getCodecElementType(type.getElementType()))
          return std::nullopt;
        bytes += getBytes(user->getResult(0));
        found.products.push_back(user);
      }
    if (found.products.empty() || bytes >= getBytes(op.getResult(operand)))
      return std::nullopt;
    const auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    llvm::sort(found.maps, isBefore);
    llvm::sort(found.products, isBefore);
    return found;
  }

  /// Returns whether the other factors of the products are the same on the ranks of each group.
  static bool hasEqualFactors(Found &found, Replication &replication) {
    llvm::SmallPtrSet<Operation *, 4> maps(found.maps.begin(), found.maps.end());
    const auto isReduced = [&](Value value) {
      Operation *made = value.getDefiningOp();
      return made == found.op || maps.contains(made);
    };
    return llvm::all_of(found.products, [&](Operation *product) {
      Value a = product->getOperand(0), b = product->getOperand(1);
      return isReduced(a) != isReduced(b) &&
             replication.isReplicatedOver(isReduced(a) ? b : a, found.op.getGroups());
    });
  }

  static void move(Found &found, int64_t &id) {
    AllReduceOp op = found.op;
    Value result = op.getResult(found.operand);
    // From now on the maps and the products work on each rank's own values.
    result.replaceAllUsesWith(op.getInputs()[found.operand]);
    OpBuilder builder(op->getContext());
    for (Operation *product : found.products) {
      builder.setInsertionPointAfter(product);
      Value each = product->getResult(0);
      auto reduced = AllReduceOp::create(
          builder, op.getLoc(), each.getType(), each, op.getReduction(), id++, op.getGroups(),
          builder.getArrayAttr(op.getCodecs()[found.operand]),
          builder.getArrayAttr(LayerAttr::get(op->getContext(), "", LayerKind::Other, {}, /*stacked=*/0)),
          op.getAlgorithm(), /*hierarchy=*/nullptr, /*exact_reasons=*/nullptr);
      each.replaceAllUsesExcept(reduced.getResult(0), reduced);
    }
    dropOperands(op, found.operand);
  }
};

} // namespace
} // namespace cgx
