//===-- UnscaleGradients.cpp - Residuals in units that stay ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum over ranks r is linear, and the scale s is the same on all of them:
//
//   (sum x_r) / s   =   sum (x_r / s)
//
// On the right, the gradient itself is sent, and its residual is in its own units, whatever s is in the next
// step.
//
//===----------------------------------------------------------------------===//

#include "LossScales.h"
#include "Replication.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace cgx {
#define GEN_PASS_DEF_UNSCALEGRADIENTSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns whether a codec treats small and large numbers alike. A cast to few exponents without a scale of
/// its own loses the small gradients that a loss scale is there to preserve.
bool isOfAnySize(CodecAttrInterface codec) {
  const cgx_codec sent = codec.getCodec();
  return sent.family != CGX_CODEC_CAST ||
         !llvm::is_contained({CGX_FORMAT_F16, CGX_FORMAT_FP8_E4M3, CGX_FORMAT_FP8_E5M2}, sent.format);
}

/// Returns the type of the same shape in which unscaled gradients are sent. The scale is there for gradients
/// of f16: a quarter of the exponents of f32 is not enough for them.
RankedTensorType getUnscaledType(RankedTensorType type) {
  return type.getElementType().isF16() ? type.clone(Float32Type::get(type.getContext())) : type;
}

Value convert(OpBuilder &builder, Location location, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return stablehlo::ConvertOp::create(builder, location, type.clone(element), value);
}

struct UnscaleGradients : impl::UnscaleGradientsPassBase<UnscaleGradients> {
  void runOnOperation() override {
    auto step = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(getOperation(), "main"));
    if (!step || step.isExternal() || !step.getFunctionBody().hasOneBlock())
      return;
    SmallVector<Found> found;
    LossScales scales(step);
    getOperation().walk([&](CollectiveOpInterface op) {
      if (!isa<AllReduceOp, ReduceScatterOp>(op) || op.isStarted() || !op.acceptsLossyCodecs())
        return;
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        if (isa<ErrorFeedbackAttr>(op.getCodec(i)) && isOfAnySize(op.getCodec(i)))
          if (std::optional<LossScale> scale = scales.find(op, i))
            found.push_back({op, i, std::move(*scale)});
    });
    if (found.empty())
      return; // the common case costs one walk
    // The analysis runs before anything changes, since it knows nothing of values that are made here.
    Replication replication(getOperation(), Replication::Believed::KeptAlike);
    llvm::erase_if(found, [&](Found &each) {
      return !replication.isReplicatedOver(each.scale.number, each.op.getGroups()) ||
             llvm::any_of(each.scale.maps,
                          [&](Operation *map) { return map->getBlock() != each.op->getBlock(); });
    });
    for (Found &each : found)
      if (moveBefore(each.op, each.scale.number))
        unscale(each);
  }

private:
  struct Found {
    CollectiveOpInterface op;
    unsigned operand;
    LossScale scale;
  };

  /// Moves the computation of `number` before `op`; returns false if it is computed from the results of `op`,
  /// or by an op that cannot be moved.
  static bool moveBefore(Operation *op, Value number) {
    llvm::SetVector<Operation *> needed;
    SmallVector<Value> worklist{number};
    while (!worklist.empty()) {
      Operation *made = worklist.pop_back_val().getDefiningOp();
      if (!made || made->getBlock() != op->getBlock() || made->isBeforeInBlock(op) || needed.contains(made))
        continue;
      if (isa<CommunicationOpInterface>(made) || !isPure(made) || made->getNumRegions() != 0)
        return false;
      needed.insert(made);
      worklist.append(made->operand_begin(), made->operand_end());
    }
    SmallVector<Operation *> inOrder = needed.takeVector();
    llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *made : inOrder)
      made->moveBefore(op);
    return true;
  }

  /// Returns the number that gradients are to be divided by.
  static Value createDivisor(OpBuilder &builder, Location location, const LossScale &scale, Type element) {
    Value number = convert(builder, location, scale.number, element);
    if (scale.isDivisor)
      return number;
    auto single = cast<RankedTensorType>(number.getType());
    Value one = stablehlo::ConstantOp::create(
        builder, location, DenseElementsAttr::get(single, Attribute(builder.getFloatAttr(element, 1))));
    return stablehlo::DivOp::create(builder, location, single, one, number);
  }

  static Value broadcast(OpBuilder &builder, Location location, Value number, Type type) {
    return stablehlo::BroadcastInDimOp::create(builder, location, type, number, ArrayRef<int64_t>{});
  }

  static void unscale(Found &found) {
    CollectiveOpInterface op = found.op;
    const LossScale &scale = found.scale;
    const unsigned i = found.operand;
    Value input = op.getInputs()[i], result = op.getResultTensors()[i];
    auto resultType = cast<RankedTensorType>(result.getType());
    const Type element = getUnscaledType(resultType).getElementType();

    OpBuilder builder(op);
    Operation *scaling = scale.maps.back();
    Value divisor = createDivisor(builder, scaling->getLoc(), scale, element);
    Value whole = convert(builder, op.getLoc(), input, element);
    Value unscaled =
        stablehlo::DivOp::create(builder, scaling->getLoc(), whole.getType(), whole,
                                 broadcast(builder, scaling->getLoc(), divisor, whole.getType()));
    op->setOperand(op.getInputs().getBeginOperandIndex() + i, unscaled);
    result.setType(resultType.clone(element));

    // Other users of the reduction get it multiplied by the scale again.
    builder.setInsertionPointAfter(op);
    Value product =
        stablehlo::MulOp::create(builder, scaling->getLoc(), result.getType(), result,
                                 broadcast(builder, scaling->getLoc(), divisor, result.getType()));
    Value scaled = convert(builder, op.getLoc(), product, resultType.getElementType());
    result.replaceAllUsesExcept(scaled, product.getDefiningOp());

    // The result of the chain is computed again, without the scale.
    builder.setInsertionPoint(scaling);
    Value mapped = result;
    for (Operation *map : ArrayRef(scale.maps).drop_back())
      mapped = applyOne(builder, map, mapped);
    auto wanted = cast<RankedTensorType>(scaling->getResult(0).getType());
    scaling->getResult(0).replaceAllUsesWith(
        convert(builder, scaling->getLoc(), mapped, wanted.getElementType()));
    eraseUnused({scaled.getDefiningOp(), scaling});
  }

  /// Does to `value` what `map` does to the operand that comes from the collective.
  static Value applyOne(OpBuilder &builder, Operation *map, Value value) {
    auto type = cast<RankedTensorType>(map->getResult(0).getType());
    if (isa<stablehlo::ConvertOp>(map))
      return convert(builder, map->getLoc(), value, type.getElementType());
    const Type element = cast<RankedTensorType>(value.getType()).getElementType();
    SmallVector<Value> operands(map->getOperands());
    for (Value &operand : operands) {
      const bool isFactor = isa<stablehlo::MulOp, stablehlo::DivOp>(map) && isConstantFactor(operand);
      operand = isFactor ? convert(builder, map->getLoc(), operand, element) : value;
    }
    Operation *copy = builder.clone(*map);
    copy->setOperands(operands);
    copy->getResult(0).setType(type.clone(element));
    return copy->getResult(0);
  }

  /// Erases unused ops, and the ops that they alone used.
  static void eraseUnused(ArrayRef<Operation *> ops) {
    llvm::SetVector<Operation *> worklist(ops.begin(), ops.end());
    while (!worklist.empty()) {
      Operation *each = worklist.pop_back_val();
      if (isa<CommunicationOpInterface>(each) || !isOpTriviallyDead(each))
        continue;
      for (Value operand : each->getOperands())
        if (Operation *made = operand.getDefiningOp())
          worklist.insert(made);
      each->erase();
    }
  }
};

} // namespace
} // namespace cgx
