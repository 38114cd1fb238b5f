//===-- ExpandComplexCollectives.cpp - complex numbers travel as two real ones -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace cgx {
#define GEN_PASS_DEF_EXPANDCOMPLEXCOLLECTIVESPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

static bool isComplex(Value value) { return isa<ComplexType>(getElementTypeOrSelf(value)); }

/// Returns the type of the parts of a tensor of complex numbers.
static RankedTensorType getPartType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
}

/// Returns `type` with one more dimension.
static RankedTensorType withLastDimension(RankedTensorType type, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(extent);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Joins both parts of complex numbers: tensor<..xcomplex<f32>> -> tensor<..x2xf32>.
static Value joinParts(ImplicitLocOpBuilder &b, Value value) {
  RankedTensorType part = getPartType(value.getType()), column = withLastDimension(part, 1);
  Value re = stablehlo::RealOp::create(b, TypeRange{part}, ValueRange{value})->getResult(0);
  Value im = stablehlo::ImagOp::create(b, TypeRange{part}, ValueRange{value})->getResult(0);
  Value columns[] = {stablehlo::ReshapeOp::create(b, column, re),
                     stablehlo::ReshapeOp::create(b, column, im)};
  return stablehlo::ConcatenateOp::create(b, withLastDimension(part, 2), columns, part.getRank());
}

/// Converts pairs back to complex numbers of type `type`.
static Value splitParts(ImplicitLocOpBuilder &b, Value pairs, Type type) {
  RankedTensorType part = getPartType(type), column = withLastDimension(part, 1);
  auto partAt = [&](int64_t number) -> Value {
    auto whole = cast<RankedTensorType>(pairs.getType());
    SmallVector<int64_t> starts(whole.getRank(), 0), limits(whole.getShape()), strides(whole.getRank(), 1);
    starts.back() = number;
    limits.back() = number + 1;
    Value slice = stablehlo::SliceOp::create(b, column, pairs, starts, limits, strides);
    return stablehlo::ReshapeOp::create(b, part, slice);
  };
  Value re = partAt(0), im = partAt(1);
  return stablehlo::ComplexOp::create(b, type, re, im);
}

/// Returns whether a reduction adds its two arguments, so that it can be done on each part.
static bool isSum(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 2 || region.front().getOperations().size() != 2)
    return false;
  Operation &add = region.front().front();
  return isa<stablehlo::AddOp>(add) && add.getOperand(0) != add.getOperand(1) &&
         region.front().getTerminator()->getOperand(0) == add.getResult(0);
}

static LogicalResult splitIntoParts(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (!isSum(region))
      return op->emitOpError("expected a sum of complex numbers, which is that of their parts");
    auto toPart = [](Value value) { value.setType(getPartType(value.getType())); };
    llvm::for_each(region.getArguments(), toPart);
    toPart(region.front().front().getResult(0));
  }
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    if (isComplex(operand.get()))
      operand.set(joinParts(b, operand.get()));
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (!isComplex(result))
      continue;
    Type type = result.getType();
    result.setType(withLastDimension(getPartType(type), 2));
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    Value complex = splitParts(b, result, type);
    for (OpOperand *use : uses)
      use->set(complex);
  }
  return success();
}

namespace {
struct ExpandComplexCollectivesPass
    : cgx::impl::ExpandComplexCollectivesPassBase<ExpandComplexCollectivesPass> {
  void runOnOperation() final {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (stablehlo::isCollective(op) && llvm::any_of(op->getOperands(), isComplex))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(splitIntoParts(op)))
        return signalPassFailure();
  }
};
} // namespace
