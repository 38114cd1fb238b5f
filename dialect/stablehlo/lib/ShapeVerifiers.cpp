//===-- ShapeVerifiers.cpp - verifiers of elementwise and data movement ops -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the constraints of the specification on which later passes rely: indices are in range, and shapes
// follow from operands.
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Verifies that a bound or a predicate has the result's shape, or rank 0.
static LogicalResult verifyScalarOrSame(Operation *op, StringRef name, Value value, Value result) {
  RankedTensorType type = tensorOf(value);
  if (type.getRank() == 0 || succeeded(verifyCompatibleShape(type.getShape(), tensorOf(result).getShape())))
    return success();
  return op->emitOpError() << "expected " << name << " of rank 0 or of the result's shape, got " << type;
}

LogicalResult cgx::stablehlo::verifyOneElementType(Operation *op) {
  SmallVector<Type> elements;
  for (Type type : op->getOperandTypes())
    elements.push_back(getElementTypeOrSelf(type));
  for (Type type : op->getResultTypes())
    elements.push_back(getElementTypeOrSelf(type));
  if (!llvm::all_of(elements, [&](Type element) { return isCompatibleElement(element, elements.front()); }))
    return op->emitOpError() << "expected operands and result of one element type, got " << elements;
  return verifySameDimensionOfScales(op);
}

LogicalResult ClampOp::verify() {
  if (failed(verifyScalarOrSame(*this, "min", getMin(), getResult())) ||
      failed(verifyScalarOrSame(*this, "max", getMax(), getResult()))) // (C1), (C2)
    return failure();
  for (Value value : {getMin(), getMax(), getResult()}) // (C3), (C4)
    if (!isCompatibleElement(tensorOf(value).getElementType(), tensorOf(getOperand()).getElementType()))
      return emitOpError() << "expected min, max and result of the operand's element type "
                           << tensorOf(getOperand()).getElementType() << ", got " << value.getType();
  return verifyShape(*this, getResult(), tensorOf(getOperand()).getShape()); // (C4)
}

LogicalResult ComplexOp::verify() {
  Type part = cast<ComplexType>(tensorOf(getResult()).getElementType()).getElementType();
  if (tensorOf(getLhs()).getElementType() == part && tensorOf(getRhs()).getElementType() == part) // (C1)
    return success();
  return emitOpError() << "expected real and imaginary parts of type " << tensorOf(getResult()).clone(part)
                       << ", got " << getLhs().getType() << " and " << getRhs().getType();
}

/// Verifies that the result has the type of the parts of complex numbers, or of the operand.
static LogicalResult verifyRealResult(Operation *op, Value operand, Value result) {
  auto complex = dyn_cast<ComplexType>(tensorOf(operand).getElementType());
  Type expected = complex ? complex.getElementType() : tensorOf(operand).getElementType();
  if (isCompatibleElement(tensorOf(result).getElementType(), expected))
    return success();
  return op->emitOpError() << "expected a result of element type " << expected << ", got "
                           << result.getType();
}

LogicalResult AbsOp::verify() { return verifyRealResult(*this, getOperand(), getResult()); } // (C2)

LogicalResult RealOp::verify() { return verifyRealResult(*this, getOperand(), getResult()); } // (C2)

LogicalResult ImagOp::verify() { return verifyRealResult(*this, getOperand(), getResult()); } // (C2)

LogicalResult CompareOp::verify() {
  Type element = tensorOf(getLhs()).getElementType();
  if (!isCompatibleElement(element, tensorOf(getRhs()).getElementType())) // (C1)
    return emitOpError() << "expected operands of one type, got " << getLhs().getType() << " and "
                         << getRhs().getType();
  return success(); // (C3) is not held by those who print: TOTALORDER of integers is their order
}

LogicalResult SelectOp::verify() {
  for (Value choice : {getOnTrue(), getOnFalse()}) // (C2)
    if (!isCompatibleElement(tensorOf(choice).getElementType(), tensorOf(getResult()).getElementType()) ||
        failed(verifyCompatibleShape(tensorOf(choice).getShape(), tensorOf(getResult()).getShape())))
      return emitOpError() << "expected on_true and on_false of the result's type " << getResult().getType()
                           << ", got " << getOnTrue().getType() << " and " << getOnFalse().getType();
  return verifyScalarOrSame(*this, "pred", getPred(), getResult()); // (C1)
}

LogicalResult ReducePrecisionOp::verify() {
  if (getExponentBits() < 1 || getExponentBits() > 64) // (C2)
    return emitOpError() << "expected 1 to 64 exponent bits, got " << static_cast<int32_t>(getExponentBits());
  if (getMantissaBits() > 64) // (C3)
    return emitOpError() << "expected 0 to 64 mantissa bits, got " << static_cast<int32_t>(getMantissaBits());
  return success();
}

/// Verifies that the other side has the type that quantized numbers are computed in.
static LogicalResult verifyExpressed(Operation *op, Value operand, Value result) {
  Type expected = getExpressedType(tensorOf(operand).getElementType()),
       got = tensorOf(result).getElementType();
  if (getExpressedType(got) == expected)
    return success();
  return op->emitOpError() << "expected a result that expresses " << expected << ", got " << got;
}

LogicalResult UniformQuantizeOp::verify() {
  return verifyExpressed(*this, getOperand(), getResult());
} // (C2)

LogicalResult UniformDequantizeOp::verify() {
  return verifyExpressed(*this, getOperand(), getResult());
} // (C2)

/// Returns the bits of an element: both parts of a complex number, and the stored number of a quantized one.
/// 0 if unknown.
static int64_t getBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getBits(complex.getElementType());
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    return quantized.getStorageTypeIntegralWidth();
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), result = tensorOf(getResult());
  if (isa<ComplexType>(operand.getElementType()) != isa<ComplexType>(result.getElementType())) // (C2)
    return emitOpError() << "expected no conversion between real and complex numbers, got " << operand
                         << " and " << result;
  int64_t from = getBits(operand.getElementType()), to = getBits(result.getElementType());
  if (from == 0 || to == 0)
    return success();
  bool isNarrower = to < from;
  RankedTensorType wide = isNarrower ? operand : result, narrow = isNarrower ? result : operand;
  SmallVector<int64_t> shape(wide.getShape());
  if (from != to) {
    if (std::max(from, to) % std::min(from, to) != 0)
      return emitOpError() << "expected elements that are whole numbers of others, got " << from << " and "
                           << to << " bits";
    shape.push_back(std::max(from, to) / std::min(from, to));
  }
  if (failed(verifyCompatibleShape(narrow.getShape(), shape))) // (C1)
    return emitOpError() << "expected elements of " << std::min(from, to) << " bits in shape "
                         << textOf(shape) << ", got " << narrow;
  return success();
}

LogicalResult BroadcastOp::verify() {
  SmallVector<int64_t> shape(getBroadcastSizes());
  for (int64_t size : shape)
    if (size < 0)
      return emitOpError() << "expected broadcast_sizes of at least 0, got " << textOf(shape);
  llvm::append_range(shape, tensorOf(getOperand()).getShape());
  return verifyType(*this, getResult(),
                    RankedTensorType::get(shape, tensorOf(getOperand()).getElementType()));
}

LogicalResult IotaOp::verify() {
  return verifyDims(*this, "iota_dimension", {static_cast<int64_t>(getIotaDimension())},
                    tensorOf(getOutput()).getRank());
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), result = tensorOf(getResult());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (failed(verifyCount(*this, "broadcast_dimensions", dims.size(), operand.getRank())) ||
      failed(verifyDims(*this, "broadcast_dimensions", dims, result.getRank())) ||
      failed(verifyElement(*this, getResult(), getOperand())) ||
      failed(verifyStaticOrBounded(*this, getResult())) ||
      failed(verifySameQuantization(
          *this, getOperand(), getResult(), [&](int64_t dim) { return dims[dim]; },
          /*repeatsScales=*/true))) // (C1), (C6)
    return failure();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    int64_t size = operand.getDimSize(index), target = result.getDimSize(dim);
    if (size != 1 && size != target && !ShapedType::isDynamic(size) && !ShapedType::isDynamic(target))
      return emitOpError() << "expected dimension " << index << " of the operand to be 1 or " << target
                           << ", got " << size;
  }
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  ArrayRef<int64_t> permutation = getPermutation();
  if (failed(verifyCount(*this, "permutation entries", permutation.size(), operand.getRank())) ||
      failed(verifyDims(*this, "permutation", permutation, operand.getRank())) ||
      failed(verifyElement(*this, getResult(), getOperand())) ||
      failed(verifySameQuantization(*this, getOperand(), getResult(), [&](int64_t dim) {
        return llvm::find(permutation, dim) - permutation.begin();
      }))) // (C1), (C4)
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(operand.getDimSize(dim));
  return verifyShape(*this, getResult(), shape);
}

LogicalResult ReverseOp::verify() {
  return verifyDims(*this, "dimensions", getDimensions(), tensorOf(getOperand()).getRank());
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), result = tensorOf(getResult());
  std::optional<int64_t> count = getElementCount(operand.getShape()),
                         got = getElementCount(result.getShape());
  if (count && got && *count != *got) // (C2)
    return emitOpError() << "expected a result of " << *count << " elements, got " << result;
  return success(succeeded(verifyElement(*this, getResult(), getOperand())) &&
                 succeeded(verifyStaticOrBounded(*this, getResult())) &&
                 succeeded(verifyReshapedQuantization(*this, getOperand(), getResult()))); // (C1), (C3)
}

LogicalResult SliceOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  ArrayRef<int64_t> starts = getStartIndices(), limits = getLimitIndices(), strides = getStrides();
  if (failed(verifyCount(*this, "start_indices", starts.size(), operand.getRank())) ||
      failed(verifyCount(*this, "limit_indices", limits.size(), operand.getRank())) ||
      failed(verifyCount(*this, "strides", strides.size(), operand.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    int64_t size = getMostSize(operand, i);
    if (starts[i] < 0 || starts[i] > limits[i] || strides[i] < 1 ||
        (!ShapedType::isDynamic(size) && limits[i] > size))
      return emitOpError() << "expected 0 <= start <= limit <= " << size << " and stride >= 1 in dimension "
                           << i << ", got " << starts[i] << ":" << limits[i] << ":" << strides[i];
    int64_t extent = limits[i] - starts[i];
    shape.push_back(extent == 0 ? 0 : (extent - 1) / strides[i] + 1);
  }
  if (failed(verifyElement(*this, getResult(), getOperand())))
    return failure();
  return verifyShape(*this, getResult(), shape);
}

/// Integers of rank 0 and one type.
static LogicalResult verifyStartIndices(Operation *op, OperandRange indices) {
  for (Value index : indices) {
    if (failed(verifyRank(op, "start_indices", index, 0)))
      return failure();
    if (index.getType() != indices[0].getType())
      return op->emitOpError() << "expected start_indices of one type, got " << indices[0].getType()
                               << " and " << index.getType();
  }
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  ArrayRef<int64_t> sizes = getSliceSizes();
  if (failed(verifyCount(*this, "start_indices", getStartIndices().size(), operand.getRank())) ||
      failed(verifyCount(*this, "slice_sizes", sizes.size(), operand.getRank())) ||
      failed(verifyElement(*this, getResult(), getOperand())))
    return failure();
  if (failed(verifyStartIndices(*this, getStartIndices()))) // (C3)
    return failure();
  for (int64_t i = 0; i < operand.getRank(); ++i)
    if (sizes[i] < 0 || (!operand.isDynamicDim(i) && sizes[i] > operand.getDimSize(i)))
      return emitOpError() << "expected slice size in range [0, " << operand.getDimSize(i)
                           << "] in dimension " << i << ", got " << sizes[i];
  return verifyShape(*this, getResult(), sizes);
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), update = tensorOf(getUpdate());
  if (failed(verifyCount(*this, "start_indices", getStartIndices().size(), operand.getRank())) ||
      failed(verifyElement(*this, getUpdate(), getOperand())) ||
      failed(verifyElement(*this, getResult(), getOperand())))
    return failure();
  if (failed(verifyStartIndices(*this, getStartIndices()))) // (C5)
    return failure();
  if (update.getRank() != operand.getRank())
    return emitOpError() << "expected an update of rank " << operand.getRank() << ", got " << update;
  for (int64_t i = 0; i < operand.getRank(); ++i)
    if (!operand.isDynamicDim(i) && update.getDimSize(i) > operand.getDimSize(i))
      return emitOpError() << "expected an update that fits the operand " << operand << ", got " << update;
  return verifyShape(*this, getResult(), operand.getShape());
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expected at least one operand";
  RankedTensorType first = tensorOf(getInputs()[0]);
  int64_t dim = getDimension();
  if (failed(verifyDims(*this, "dimension", {dim}, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  for (Value input : getInputs()) {
    RankedTensorType type = tensorOf(input);
    bool fits = type.getRank() == first.getRank() &&
                isCompatibleElement(type.getElementType(), first.getElementType());
    for (int64_t i = 0; fits && i < type.getRank(); ++i)
      fits = i == dim || succeeded(verifyCompatibleDims({type.getDimSize(i), first.getDimSize(i)}));
    if (!fits)
      return emitOpError() << "expected operands that differ along dimension " << dim << " only, got "
                           << first << " and " << type;
    shape[dim] = ShapedType::isDynamic(shape[dim]) || type.isDynamicDim(dim)
                     ? ShapedType::kDynamic
                     : llvm::checkedAdd(shape[dim], type.getDimSize(dim)).value_or(ShapedType::kDynamic);
  }
  if (failed(verifyElement(*this, getResult(), getInputs()[0])))
    return failure();
  return verifyShape(*this, getResult(), shape);
}

LogicalResult PadOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  ArrayRef<int64_t> low = getEdgePaddingLow(), high = getEdgePaddingHigh(), interior = getInteriorPadding();
  if (failed(verifyCount(*this, "edge_padding_low", low.size(), operand.getRank())) ||
      failed(verifyCount(*this, "edge_padding_high", high.size(), operand.getRank())) ||
      failed(verifyCount(*this, "interior_padding", interior.size(), operand.getRank())) ||
      failed(verifyElement(*this, getResult(), getOperand())))
    return failure();
  if (tensorOf(getPaddingValue()).getRank() != 0)
    return emitOpError() << "expected a padding value of rank 0, got " << getPaddingValue().getType();
  if (!isCompatibleElement(tensorOf(getPaddingValue()).getElementType(), operand.getElementType())) // (C1)
    return emitOpError() << "expected a padding value of element type " << operand.getElementType()
                         << ", got " << getPaddingValue().getType();
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    if (interior[i] < 0)
      return emitOpError() << "expected interior padding of at least 0, got " << interior[i];
    int64_t size = getMostSize(operand, i);
    if (ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    std::optional<int64_t> padded = llvm::checkedMulAdd(std::max<int64_t>(size - 1, 0), interior[i], size);
    for (int64_t edge : {low[i], high[i]})
      padded = padded ? llvm::checkedAdd(*padded, edge) : padded;
    if (!padded)
      return emitOpError() << "expected padding within 64 bits in dimension " << i << ", got " << low[i]
                           << ", " << high[i] << " and " << interior[i];
    shape.push_back(*padded);
    if (shape.back() < 0)
      return emitOpError() << "expected padding that leaves dimension " << i << " at least 0, got "
                           << shape.back();
    if (operand.isDynamicDim(i)) // what is computed is the bound
      shape.back() = ShapedType::kDynamic;
  }
  return verifyShape(*this, getResult(), shape);
}
