//===-- TypeVerifiers.cpp - quantized and bounded tensors --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the rules for operands and results of any op. Quantized element types are sound and, if each slice
// along a dimension has its own scale ("per axis"), known to the op. The bound of a dimension is not below
// its size.
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;
using namespace cgx::stablehlo;

using PerTensor = quant::UniformQuantizedType;
using PerAxis = quant::UniformQuantizedPerAxisType;

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

/// Returns whether the op's specification covers scales along a dimension, or the op hands values on.
static bool takesScalesPerAxis(Operation *op) {
  return isa<AddOp, BitcastConvertOp, BroadcastInDimOp, ConstantOp, ConvolutionOp, DotGeneralOp, DotOp,
             GetDimensionSizeOp, DynamicBroadcastInDimOp, DynamicConvOp, DynamicReshapeOp, ReshapeOp,
             TransposeOp, UniformDequantizeOp, UniformQuantizeOp>(op) ||
         isa<CaseOp, CompositeOp, CustomCallOp, GetTupleElementOp, IfOp, InfeedOp, OutfeedOp, RecvOp,
             ReturnOp, SendOp, TupleOp, WhileOp>(op);
}

/// Verifies (C8), (C12), (C13) of quantized tensor types.
static LogicalResult verifyQuantization(Operation *op, RankedTensorType type, quant::QuantizedType element) {
  if (auto storage = dyn_cast<IntegerType>(element.getStorageType()); storage && storage.isSigned())
    return op->emitOpError() << "expected a signless or unsigned storage type, got " << type;
  auto isInRange = [&](int64_t zero) {
    return zero >= element.getStorageTypeMin() && zero <= element.getStorageTypeMax();
  };
  auto perTensor = dyn_cast<PerTensor>(element);
  if (perTensor && !isInRange(perTensor.getZeroPoint()))
    return op->emitOpError() << "expected a zero point from " << element.getStorageTypeMin() << " to "
                             << element.getStorageTypeMax() << ", got " << type;
  auto perAxis = dyn_cast<PerAxis>(element);
  if (!perAxis)
    return success();
  if (!llvm::all_of(perAxis.getZeroPoints(), isInRange))
    return op->emitOpError() << "expected zero points from " << element.getStorageTypeMin() << " to "
                             << element.getStorageTypeMax() << ", got " << type;
  int64_t dim = perAxis.getQuantizedDimension();
  if (dim < 0 || dim >= type.getRank())
    return op->emitOpError() << "expected a quantization dimension in range [0, " << type.getRank()
                             << "), got " << type;
  int64_t count = perAxis.getScales().size();
  if (!type.isDynamicDim(dim) && type.getDimSize(dim) != count)
    return op->emitOpError() << "expected " << type.getDimSize(dim)
                             << " scales, one for each slice of dimension " << dim << ", got " << count
                             << " in " << type;
  if (!takesScalesPerAxis(op))
    return op->emitOpError() << "expected one scale for the whole tensor, got " << type;
  return success();
}

/// Returns the bound of a dynamic dimension, or its size.
int64_t cgx::stablehlo::getMostSize(RankedTensorType type, int64_t dim) {
  auto bounds = dyn_cast_or_null<BoundsAttr>(type.getEncoding());
  return type.isDynamicDim(dim) && bounds ? bounds.getBounds()[dim] : type.getDimSize(dim);
}

/// Verifies tensors of one shape: a size in one does not exceed the bound in another.
static LogicalResult verifyBounds(Operation *op, ArrayRef<RankedTensorType> types) {
  for (RankedTensorType bounded : types)
    for (RankedTensorType other : types)
      for (int64_t dim = 0; dim < std::min(bounded.getRank(), other.getRank()); ++dim) {
        int64_t bound = getMostSize(bounded, dim);
        if (bounded.isDynamicDim(dim) && !ShapedType::isDynamic(bound) && !other.isDynamicDim(dim) &&
            other.getDimSize(dim) > bound)
          return op->emitOpError() << "expected dimension " << dim << " of at most " << bound
                                   << " elements, as " << bounded << " has, got " << other;
      }
  return success();
}

LogicalResult cgx::stablehlo::verifySoundTypes(Operation *op) {
  SmallVector<RankedTensorType> tensors;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        tensors.push_back(tensor);
  for (RankedTensorType tensor : tensors)
    if (auto element = dyn_cast<quant::QuantizedType>(tensor.getElementType()))
      if (failed(verifyQuantization(op, tensor, element)))
        return failure();
  return op->hasTrait<OpTrait::Elementwise>() ? verifyBounds(op, tensors) : success();
}

LogicalResult cgx::stablehlo::verifyStaticOrBounded(Operation *op, Value result) {
  RankedTensorType type = tensorOf(result);
  unsigned bounded = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim) && (ShapedType::isDynamic(getMostSize(type, dim)) || ++bounded > 1))
      return op->emitOpError() << "expected a result of static shape, or with one bounded dimension, got "
                               << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Operands and results of one quantization
//===----------------------------------------------------------------------===//

LogicalResult cgx::stablehlo::verifySameDimensionOfScales(Operation *op) {
  auto result = dyn_cast<PerAxis>(tensorOf(op->getResult(0)).getElementType());
  for (Type type : op->getOperandTypes()) {
    auto operand = dyn_cast<PerAxis>(cast<RankedTensorType>(type).getElementType());
    if (operand && (!result || operand.getQuantizedDimension() != result.getQuantizedDimension()))
      return op->emitOpError() << "expected a result with scales along dimension "
                               << operand.getQuantizedDimension() << ", as an operand has, got "
                               << op->getResult(0).getType();
  }
  return success();
}

LogicalResult cgx::stablehlo::verifySameQuantization(Operation *op, Value operand, Value result,
                                                     llvm::function_ref<int64_t(int64_t)> dimensionOf,
                                                     bool repeatsScales) {
  Type from = tensorOf(operand).getElementType(), to = tensorOf(result).getElementType();
  if (from == to && !isa<PerAxis>(from))
    return success();
  auto in = dyn_cast<PerAxis>(from), out = dyn_cast<PerAxis>(to);
  if (!in || !out)
    return op->emitOpError() << "expected a result of element type " << from << ", got " << to;
  int64_t dim = in.getQuantizedDimension(), expected = dimensionOf(dim);
  if (out.getQuantizedDimension() != expected)
    return op->emitOpError() << "expected a result with scales along dimension " << expected << ", got "
                             << result.getType();
  bool repeats = repeatsScales && tensorOf(operand).getDimSize(dim) == 1;
  for (size_t i = 0; i < out.getScales().size(); ++i) {
    size_t source = repeats ? 0 : i;
    if (source >= in.getScales().size() || out.getScales()[i] != in.getScales()[source] ||
        out.getZeroPoints()[i] != in.getZeroPoints()[source])
      return op->emitOpError() << "expected a result with the scales and zero points of the operand, "
                               << operand.getType() << ", got " << result.getType();
  }
  return success();
}

LogicalResult cgx::stablehlo::verifyReshapedQuantization(Operation *op, Value operand, Value result) {
  auto before = [](RankedTensorType type, int64_t dim) {
    return getElementCount(type.getShape().take_front(dim));
  };
  auto out = dyn_cast<PerAxis>(tensorOf(result).getElementType());
  if (failed(verifySameQuantization(op, operand, result, [&](int64_t dim) {
        return out ? out.getQuantizedDimension() : dim; // any, as long as elements keep their scales
      })))
    return failure();
  auto in = dyn_cast<PerAxis>(tensorOf(operand).getElementType());
  if (!in)
    return success();
  int64_t from = in.getQuantizedDimension(), to = out.getQuantizedDimension();
  auto outer = before(tensorOf(operand), from), other = before(tensorOf(result), to);
  if (in.getScales().size() == out.getScales().size() && (!outer || !other || *outer == *other))
    return success();
  return op->emitOpError() << "expected a result whose elements keep their scales, along dimension " << from
                           << " of " << operand.getType() << ", got " << result.getType();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult cgx::stablehlo::verifyQuantizedProduct(Operation *op, Value lhs, Value rhs, Value result,
                                                     const ProductDimensions &dims) {
  Type left = tensorOf(lhs).getElementType(), right = tensorOf(rhs).getElementType(),
       out = tensorOf(result).getElementType();
  auto storage = [](Type type) { return cast<quant::QuantizedType>(type).getStorageType(); };
  auto emitError = [&] {
    return op->emitOpError() << "operands " << lhs.getType() << " and " << rhs.getType() << ", result "
                             << result.getType() << ": ";
  };
  if (!isQuantized(left) && !isQuantized(right) && !isQuantized(out))
    return success();
  if (isQuantized(left) != isQuantized(out) || !isQuantized(right)) // (C14), (C28)
    return emitError() << "expected a quantized rhs, and lhs and result both quantized or neither";
  if (isa<PerAxis>(left))
    return emitError() << "expected one scale for all of lhs";
  auto perAxis = dyn_cast<PerAxis>(right);
  if (perAxis && !dims.mayHaveScales(perAxis.getQuantizedDimension())) // (C16), (C29)
    return emitError() << "expected no scales along dimension " << perAxis.getQuantizedDimension()
                       << " of rhs";
  if (auto results = dyn_cast<PerAxis>(out)) {
    if (!perAxis) // (C19), (C33)
      return emitError() << "expected one scale for the whole result, as rhs has";
    if (dims.outputFeature && results.getQuantizedDimension() != *dims.outputFeature) // (C30)
      return emitError() << "expected scales of the result along dimension " << *dims.outputFeature;
  }
  if (dims.needsZeroRhs) { // (C15)
    auto perTensor = dyn_cast<PerTensor>(right);
    if ((perTensor && perTensor.getZeroPoint() != 0) ||
        (perAxis && llvm::any_of(perAxis.getZeroPoints(), [](int64_t zero) { return zero != 0; })))
      return emitError() << "expected zero points of rhs to be 0";
  }
  if (isQuantized(left) && storage(left) != storage(right)) // (C17), (C31)
    return emitError() << "expected operands of one storage type";
  // (C18), (C20), (C32), (C34)
  if (getExpressedType(left) != getExpressedType(right) || getExpressedType(left) != getExpressedType(out))
    return emitError() << "expected operands and result that express one type";
  return success();
}
