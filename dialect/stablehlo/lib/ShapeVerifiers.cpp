//===-- ShapeVerifiers.cpp - verifiers of elementwise and data movement ops -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of the specification on which later passes rely: what they
// index with is in range, and shapes follow from operands.
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cgx::stablehlo;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static std::string textOf(ArrayRef<int64_t> numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(numbers, stream);
  stream << ']';
  return text;
}

/// Dimensions that are in range, and unique.
static LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<bool> seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expected " << name << " in range [0, " << rank << "), got " << dim;
    if (std::exchange(seen[dim], true))
      return op->emitOpError() << "expected " << name << " to be unique, got " << textOf(dims);
  }
  return success();
}

static LogicalResult verifyCount(Operation *op, StringRef name, size_t count, int64_t rank) {
  if (static_cast<int64_t>(count) == rank)
    return success();
  return op->emitOpError() << "expected " << rank << " " << name << ", one per dimension, got " << count;
}

static LogicalResult verifyShape(Operation *op, Value result, ArrayRef<int64_t> expected) {
  if (succeeded(verifyCompatibleShape(tensorOf(result).getShape(), expected)))
    return success();
  return op->emitOpError() << "expected a result of shape " << textOf(expected) << ", got "
                           << textOf(tensorOf(result).getShape());
}

static LogicalResult verifyElement(Operation *op, Value result, Value operand) {
  if (tensorOf(result).getElementType() == tensorOf(operand).getElementType())
    return success();
  return op->emitOpError() << "expected a result of element type " << tensorOf(operand).getElementType()
                           << ", got " << tensorOf(result).getElementType();
}

/// A bound or a predicate: of the result's shape, or of rank 0.
static LogicalResult verifyScalarOrSame(Operation *op, StringRef name, Value value, Value result) {
  RankedTensorType type = tensorOf(value);
  if (type.getRank() == 0 || type.getShape() == tensorOf(result).getShape())
    return success();
  return op->emitOpError() << "expected " << name << " of rank 0 or of the result's shape, got " << type;
}

LogicalResult cgx::stablehlo::verifyOneElementType(Operation *op) {
  SmallVector<Type> elements;
  for (Type type : op->getOperandTypes())
    elements.push_back(getElementTypeOrSelf(type));
  for (Type type : op->getResultTypes())
    elements.push_back(getElementTypeOrSelf(type));
  if (llvm::all_equal(elements))
    return success();
  return op->emitOpError() << "expected operands and result of one element type, got " << elements;
}

LogicalResult ClampOp::verify() {
  if (failed(verifyScalarOrSame(*this, "min", getMin(), getResult())) ||
      failed(verifyScalarOrSame(*this, "max", getMax(), getResult())))
    return failure();
  return verifyShape(*this, getResult(), tensorOf(getOperand()).getShape());
}

LogicalResult ComplexOp::verify() {
  Type part = cast<ComplexType>(tensorOf(getResult()).getElementType()).getElementType();
  Type expected = tensorOf(getResult()).clone(part);
  if (getLhs().getType() == expected && getRhs().getType() == expected)
    return success();
  return emitOpError() << "expected real and imaginary parts of type " << expected << ", got "
                       << getLhs().getType() << " and " << getRhs().getType();
}

LogicalResult CompareOp::verify() {
  if (getLhs().getType() == getRhs().getType())
    return success();
  return emitOpError() << "expected operands of one type, got " << getLhs().getType() << " and "
                       << getRhs().getType();
}

LogicalResult SelectOp::verify() {
  if (getOnTrue().getType() != getResult().getType() || getOnFalse().getType() != getResult().getType())
    return emitOpError() << "expected on_true and on_false of the result's type " << getResult().getType()
                         << ", got " << getOnTrue().getType() << " and " << getOnFalse().getType();
  return verifyScalarOrSame(*this, "pred", getPred(), getResult());
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
      failed(verifyElement(*this, getResult(), getOperand())))
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
      failed(verifyElement(*this, getResult(), getOperand())))
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
  if (operand.hasStaticShape() && result.hasStaticShape() &&
      operand.getNumElements() != result.getNumElements())
    return emitOpError() << "expected a result of " << operand.getNumElements() << " elements, got "
                         << result;
  return verifyElement(*this, getResult(), getOperand());
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
    int64_t size = operand.getDimSize(i);
    if (starts[i] < 0 || starts[i] > limits[i] || strides[i] < 1 ||
        (!ShapedType::isDynamic(size) && limits[i] > size))
      return emitOpError() << "expected 0 <= start <= limit <= " << size << " and stride >= 1 in dimension "
                           << i << ", got " << starts[i] << ":" << limits[i] << ":" << strides[i];
    shape.push_back((limits[i] - starts[i] + strides[i] - 1) / strides[i]);
  }
  if (failed(verifyElement(*this, getResult(), getOperand())))
    return failure();
  return verifyShape(*this, getResult(), shape);
}

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  ArrayRef<int64_t> sizes = getSliceSizes();
  if (failed(verifyCount(*this, "start_indices", getStartIndices().size(), operand.getRank())) ||
      failed(verifyCount(*this, "slice_sizes", sizes.size(), operand.getRank())) ||
      failed(verifyElement(*this, getResult(), getOperand())))
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
    bool fits = type.getRank() == first.getRank() && type.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < type.getRank(); ++i)
      fits = i == dim || type.getDimSize(i) == first.getDimSize(i);
    if (!fits)
      return emitOpError() << "expected operands that differ along dimension " << dim << " only, got "
                           << first << " and " << type;
    shape[dim] = ShapedType::isDynamic(shape[dim]) || type.isDynamicDim(dim)
                     ? ShapedType::kDynamic
                     : shape[dim] + type.getDimSize(dim);
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
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    if (interior[i] < 0)
      return emitOpError() << "expected interior padding of at least 0, got " << interior[i];
    int64_t size = operand.getDimSize(i);
    if (ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    shape.push_back(size + low[i] + high[i] + std::max<int64_t>(size - 1, 0) * interior[i]);
    if (shape.back() < 0)
      return emitOpError() << "expected padding that leaves dimension " << i << " at least 0, got "
                           << shape.back();
  }
  return verifyShape(*this, getResult(), shape);
}

//===----------------------------------------------------------------------===//
// gather and scatter
//===----------------------------------------------------------------------===//

/// The size of an index vector in `indices`.
static FailureOr<int64_t> indexVectorSize(Operation *op, Value indices, int64_t dim) {
  RankedTensorType type = tensorOf(indices);
  if (dim < 0 || dim > type.getRank())
    return op->emitOpError() << "expected index_vector_dim in range [0, " << type.getRank() << "], got "
                             << dim;
  return dim == type.getRank() ? 1 : type.getDimSize(dim);
}

static LogicalResult verifyIndexMap(Operation *op, StringRef name, ArrayRef<int64_t> map, Value indices,
                                    int64_t dim, int64_t operandRank) {
  FailureOr<int64_t> size = indexVectorSize(op, indices, dim);
  if (failed(size) || failed(verifyDims(op, name, map, operandRank)))
    return failure();
  if (!ShapedType::isDynamic(*size) && static_cast<int64_t>(map.size()) != *size)
    return op->emitOpError() << "expected " << *size << " entries of " << name
                             << ", as in an index vector, got " << map.size();
  return success();
}

LogicalResult GatherOp::verify() {
  GatherDimensionNumbersAttr numbers = getDimensionNumbers();
  RankedTensorType operand = tensorOf(getOperand()), indices = tensorOf(getStartIndices());
  if (failed(verifyIndexMap(*this, "start_index_map", numbers.getStartIndexMap(), getStartIndices(),
                            numbers.getIndexVectorDim(), operand.getRank())) ||
      failed(verifyDims(*this, "collapsed_slice_dims", numbers.getCollapsedSliceDims(), operand.getRank())) ||
      failed(
          verifyDims(*this, "operand_batching_dims", numbers.getOperandBatchingDims(), operand.getRank())) ||
      failed(verifyDims(*this, "start_indices_batching_dims", numbers.getStartIndicesBatchingDims(),
                        indices.getRank())) ||
      failed(verifyDims(*this, "offset_dims", numbers.getOffsetDims(), tensorOf(getResult()).getRank())) ||
      failed(verifyCount(*this, "slice_sizes", getSliceSizes().size(), operand.getRank())) ||
      failed(verifyElement(*this, getResult(), getOperand())))
    return failure();
  if (numbers.getOperandBatchingDims().size() != numbers.getStartIndicesBatchingDims().size())
    return emitOpError() << "expected as many operand_batching_dims as start_indices_batching_dims, got "
                         << numbers.getOperandBatchingDims().size() << " and "
                         << numbers.getStartIndicesBatchingDims().size();
  for (auto [i, size] : llvm::enumerate(getSliceSizes()))
    if (size < 0 || (!operand.isDynamicDim(i) && size > operand.getDimSize(i)))
      return emitOpError() << "expected slice size in range [0, " << operand.getDimSize(i)
                           << "] in dimension " << i << ", got " << size;
  int64_t windowRank =
      operand.getRank() - numbers.getCollapsedSliceDims().size() - numbers.getOperandBatchingDims().size();
  if (windowRank != static_cast<int64_t>(numbers.getOffsetDims().size()))
    return emitOpError() << "expected " << windowRank << " offset_dims, got "
                         << numbers.getOffsetDims().size();
  return success();
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expected at least one operand";
  ScatterDimensionNumbersAttr numbers = getScatterDimensionNumbers();
  RankedTensorType input = tensorOf(getInputs()[0]), indices = tensorOf(getScatterIndices());
  RankedTensorType update = tensorOf(getUpdates()[0]);
  if (failed(verifyIndexMap(*this, "scatter_dims_to_operand_dims", numbers.getScatterDimsToOperandDims(),
                            getScatterIndices(), numbers.getIndexVectorDim(), input.getRank())) ||
      failed(verifyDims(*this, "inserted_window_dims", numbers.getInsertedWindowDims(), input.getRank())) ||
      failed(verifyDims(*this, "input_batching_dims", numbers.getInputBatchingDims(), input.getRank())) ||
      failed(verifyDims(*this, "scatter_indices_batching_dims", numbers.getScatterIndicesBatchingDims(),
                        indices.getRank())) ||
      failed(verifyDims(*this, "update_window_dims", numbers.getUpdateWindowDims(), update.getRank())))
    return failure();
  if (getResultTypes() != getInputs().getTypes())
    return emitOpError() << "expected results of the types of the operands, " << getInputs().getTypes()
                         << ", got " << getResultTypes();
  int64_t windowRank =
      input.getRank() - numbers.getInsertedWindowDims().size() - numbers.getInputBatchingDims().size();
  if (windowRank != static_cast<int64_t>(numbers.getUpdateWindowDims().size()))
    return emitOpError() << "expected " << windowRank << " update_window_dims, got "
                         << numbers.getUpdateWindowDims().size();
  if (getUpdateComputation().getNumArguments() != 2 * getInputs().size())
    return emitOpError() << "expected " << 2 * getInputs().size()
                         << " arguments of the update computation, got "
                         << getUpdateComputation().getNumArguments();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
