//===-- KeptElements.cpp - ops that keep a tensor's elements in place -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptElements.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace cgx;

namespace {
enum class Keeping {
  Nothing,
  EqualSize,    // Operands that have as many elements as the result.
  Movement,     // Operands that are not index scalars, whatever their size.
  SamePosition, // The operand with the number of the result.
};
} // namespace

/// Returns whether an elementwise op, also one of chlo, gives bits or counts rather than elements.
static bool losesElements(Operation *op) {
  return isa<stablehlo::CountLeadingZerosOp, stablehlo::NotOp, stablehlo::PopulationCountOp,
             stablehlo::UniformDequantizeOp, stablehlo::UniformQuantizeOp, stablehlo::XorOp, chlo::TopKOp>(
      op);
}

/// Returns whether an op of upstream is elementwise, although it is not marked so.
static bool isElementwiseUpstream(Operation *op) {
  return isa<linalg::AddOp, linalg::DivOp, linalg::GenericOp, linalg::MulOp, linalg::SubOp,
             linalg::TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp,
             tosa::AbsOp, tosa::AddOp, tosa::CastOp, tosa::ExpOp, tosa::MulOp, tosa::NegateOp,
             tosa::ReciprocalOp, tosa::ReshapeOp, tosa::RsqrtOp, tosa::SelectOp, tosa::SubOp, tosa::TanhOp,
             tosa::TransposeOp>(op);
}

static Keeping classify(Operation *op) {
  if (losesElements(op))
    return Keeping::Nothing;
  if (isa<stablehlo::ConcatenateOp, stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp,
          stablehlo::PadOp, stablehlo::SliceOp, tensor::ConcatOp, tensor::ExtractSliceOp,
          tensor::InsertSliceOp, tosa::ConcatOp, tosa::SliceOp>(op))
    return Keeping::Movement;
  // These are collectives before the import; after it, cgx's collectives are sources of their own.
  if (isa<stablehlo::OptimizationBarrierOp>(op) || stablehlo::isCollective(op))
    return Keeping::SamePosition;
  const bool keepsSize =
      op->hasTrait<OpTrait::Elementwise>() || isElementwiseUpstream(op) ||
      isa_and_nonnull<chlo::ChloDialect>(op->getDialect()) ||
      isa<stablehlo::BitcastConvertOp, stablehlo::BroadcastInDimOp, stablehlo::ClampOp, stablehlo::ReduceOp,
          stablehlo::ReshapeOp, stablehlo::ReverseOp, stablehlo::SelectOp, stablehlo::TransposeOp>(op);
  return keepsSize ? Keeping::EqualSize : Keeping::Nothing;
}

/// Returns the number of elements, or -1 when it is not known or not numbers.
static int64_t getNumberCount(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getElementType().isInteger(1))
    return -1;
  return tensor.getNumElements();
}

/// Returns whether a linalg.generic, which may also contract, reads the operand through a permutation of all
/// its dimensions.
static bool isReadInPlace(OpOperand &operand) {
  auto maps =
      dyn_cast_or_null<ArrayAttr>(operand.getOwner()->getInherentAttr("indexing_maps").value_or(nullptr));
  if (!maps || operand.getOperandNumber() >= maps.size())
    return true;
  return cast<AffineMapAttr>(maps[operand.getOperandNumber()]).getValue().isPermutation() &&
         cast<AffineMapAttr>(maps.getValue().back()).getValue().isPermutation();
}

SmallVector<Value> cgx::getKeptOperands(OpResult result) {
  Operation *op = result.getOwner();
  SmallVector<Value> kept;
  int64_t count = getNumberCount(result.getType());
  switch (classify(op)) {
  case Keeping::Nothing:
    break;
  case Keeping::SamePosition:
    kept.push_back(op->getOperand(result.getResultNumber()));
    break;
  case Keeping::EqualSize:
    for (OpOperand &operand : op->getOpOperands()) {
      // A reduction of several tensors reduces each on its own, and the initial
      // values follow the tensors.
      bool isOther = op->getNumResults() > 1 && operand.getOperandNumber() != result.getResultNumber();
      if (count >= 0 && !isOther && getNumberCount(operand.get().getType()) == count &&
          isReadInPlace(operand))
        kept.push_back(operand.get());
    }
    break;
  case Keeping::Movement:
    for (Value operand : op->getOperands())
      if (getElementTypeOrSelf(operand.getType()) == getElementTypeOrSelf(result.getType()))
        kept.push_back(operand);
    break;
  }
  return kept;
}

bool cgx::isMadeByContraction(Value value) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    auto result = dyn_cast<OpResult>(current);
    if (!result)
      return true; // An argument, or what a loop carries.
    if (auto collective = dyn_cast<CollectiveOpInterface>(result.getOwner())) {
      worklist.push_back(collective.getInputs()[result.getResultNumber()]);
      continue;
    }
    if (auto wait = dyn_cast<WaitOp>(result.getOwner())) {
      worklist.push_back(wait.getCollective().getInputs()[result.getResultNumber()]);
      continue;
    }
    SmallVector<Value> kept = getKeptOperands(result);
    const bool isStatistic =
        isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(
            result.getOwner()) ||
        result.getOwner()->hasTrait<OpTrait::ConstantLike>();
    if (kept.empty() && !isStatistic)
      return true;
    worklist.append(kept);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// In the order in which they lie in memory
//===----------------------------------------------------------------------===//

int64_t cgx::getElementCount(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// Returns whether dimensions of more than one element stay in their order when dimension i goes to where[i].
static bool keepsOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> where) {
  int64_t last = -1;
  for (auto [size, to] : llvm::zip_equal(shape, where)) {
    if (size == 1)
      continue;
    if (to < last)
      return false;
    last = to;
  }
  return true;
}

/// Returns whether the op gives the elements of an operand that it keeps in the order in which they lie in
/// memory.
static bool keepsOrder(Operation *op) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    SmallVector<int64_t> where(transpose.getPermutation().size());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      where[from] = static_cast<int64_t>(to);
    return keepsOrder(cast<RankedTensorType>(transpose.getOperand().getType()).getShape(), where);
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return keepsOrder(cast<RankedTensorType>(broadcast.getOperand().getType()).getShape(),
                      broadcast.getBroadcastDimensions());
  return !isa<stablehlo::ReverseOp>(op);
}

SmallVector<Value> cgx::getOperandsInOrder(OpResult value) {
  if (!keepsOrder(value.getOwner()))
    return {};
  SmallVector<Value> kept = getKeptOperands(value);
  llvm::erase_if(kept, [&](Value operand) { return getElementCount(operand) != getElementCount(value); });
  return kept;
}

ValueSet cgx::followInOrder(Value from, function_ref<bool(Value)> ends) {
  ValueSet followed = {from};
  SmallVector<Value> worklist = {from};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (ends(value))
      continue;
    for (Operation *user : value.getUsers())
      for (OpResult result : user->getResults())
        if (llvm::is_contained(getOperandsInOrder(result), value) && followed.insert(result).second)
          worklist.push_back(result);
  }
  return followed;
}
