//===-- ExpandNarrowCollectives.cpp - Narrow numbers travel as wider ones -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===--------------------------------------------------------------------------------===//

#include "cgx/Passes/Import.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace cgx {
#define GEN_PASS_DEF_EXPANDNARROWCOLLECTIVESPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

/// Returns whether elements fit into a byte and no codec and no transport supports them.
static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() && !getCodecElementType(element) && element.getIntOrFloatBitWidth() <= 8;
}

/// Returns the type in which narrow numbers travel. A one-byte float that only moves keeps its bits. A
/// reduced one travels as f16, as in XLA on CPUs: f16 represents all narrow floats, and has three digits more
/// than bf16. Only bf16 represents the powers of two of f8E8M0FNU.
static Type getTravellingType(Type type, bool isReduced) {
  auto tensor = cast<RankedTensorType>(type);
  MLIRContext *context = type.getContext();
  Type element = tensor.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return tensor.clone(IntegerType::get(context, 8, integer.getSignedness()));
  if (!isReduced && element.getIntOrFloatBitWidth() == 8)
    return tensor.clone(IntegerType::get(context, 8, IntegerType::Unsigned));
  return tensor.clone(isa<Float8E8M0FNUType>(element) ? Type(BFloat16Type::get(context))
                                                      : Type(Float16Type::get(context)));
}

static Value convert(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (isa<FloatType>(getElementTypeOrSelf(value)) == isa<FloatType>(getElementTypeOrSelf(type)))
    return stablehlo::ConvertOp::create(b, type, value);
  return stablehlo::BitcastConvertOp::create(b, type, value);
}

static void widen(Operation *op) {
  bool isReduced = op->getNumRegions() > 0;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = operand.get().getType(); isNarrow(type))
      operand.set(convert(b, operand.get(), getTravellingType(type, isReduced)));
  auto widen = [&](Value value) {
    if (isNarrow(value.getType()))
      value.setType(getTravellingType(value.getType(), isReduced));
  };
  for (Region &region : op->getRegions())
    region.walk([&](Block *block) {
      llvm::for_each(block->getArguments(), widen);
      for (Operation &inner : *block)
        llvm::for_each(inner.getResults(), widen);
    });
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isNarrow(type))
      continue;
    widen(result);
    Value narrow = convert(b, result, type);
    result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
  }
}

/// Verifies that the region means the same for wider numbers.
static LogicalResult verifyReduction(Operation *op) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      if (!isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ReturnOp>(
              inner))
        return inner.emitOpError()
               << "expected narrow numbers to be reduced by their sum, product, maximum or "
                  "minimum: convert them to f32 before the collective";
  return success();
}

namespace {
struct ExpandNarrowCollectivesPass : cgx::impl::ExpandNarrowCollectivesPassBase<ExpandNarrowCollectivesPass> {
  void runOnOperation() final {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (stablehlo::isCollective(op) && llvm::any_of(op->getOperandTypes(), isNarrow))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (failed(verifyReduction(op)))
        return signalPassFailure();
      widen(op);
    }
  }
};
} // namespace
