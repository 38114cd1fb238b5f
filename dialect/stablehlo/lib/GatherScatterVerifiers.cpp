//===-- GatherScatterVerifiers.cpp - verifiers of gather and scatter -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Returns the shape of `indices` without the dimension of the index vectors.
static SmallVector<int64_t> getBatchShape(RankedTensorType indices, int64_t indexVectorDim) {
  SmallVector<int64_t> shape(indices.getShape());
  if (indexVectorDim < indices.getRank())
    shape.erase(shape.begin() + indexVectorDim);
  return shape;
}

static LogicalResult verifyIndexMap(Operation *op, StringRef name, ArrayRef<int64_t> map,
                                    RankedTensorType indices, int64_t dim, int64_t operandRank) {
  if (dim < 0 || dim > indices.getRank())
    return op->emitOpError() << "expected index_vector_dim in range [0, " << indices.getRank() << "], got "
                             << dim;
  int64_t size = dim == indices.getRank() ? 1 : indices.getDimSize(dim);
  if (failed(verifyDims(op, name, map, operandRank)))
    return failure();
  if (!ShapedType::isDynamic(size) && static_cast<int64_t>(map.size()) != size)
    return op->emitOpError() << "expected " << size << " entries of " << name
                             << ", as in an index vector, got " << map.size();
  return success();
}

/// Verifies pairs of batching dimensions, of the operand and of the indices.
static LogicalResult verifyBatching(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                                    RankedTensorType operand, StringRef indicesName,
                                    ArrayRef<int64_t> indicesDims, RankedTensorType indices,
                                    int64_t indexVectorDim) {
  if (failed(verifyDims(op, name, dims, operand.getRank())) || failed(verifySorted(op, name, dims)) ||
      failed(verifyDims(op, indicesName, indicesDims, indices.getRank())))
    return failure();
  if (llvm::is_contained(indicesDims, indexVectorDim))
    return op->emitOpError() << "expected " << indicesName << " without index_vector_dim " << indexVectorDim;
  if (dims.size() != indicesDims.size())
    return op->emitOpError() << "expected as many " << name << " as " << indicesName << ", got "
                             << dims.size() << " and " << indicesDims.size();
  for (auto [dim, indicesDim] : llvm::zip_equal(dims, indicesDims))
    if (failed(verifyCompatibleDims({operand.getDimSize(dim), indices.getDimSize(indicesDim)})))
      return op->emitOpError() << "expected batching dimensions of one size, got " << operand.getDimSize(dim)
                               << " of the operand and " << indices.getDimSize(indicesDim)
                               << " of the indices";
  return success();
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

/// Verifies a gather. `sizes` has dynamic entries where they are computed.
static LogicalResult verifyGather(Operation *op, RankedTensorType operand, RankedTensorType indices,
                                  Value result, GatherDimensionNumbersAttr numbers, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> collapsed = numbers.getCollapsedSliceDims(), batching = numbers.getOperandBatchingDims();
  ArrayRef<int64_t> offsets = numbers.getOffsetDims(), map = numbers.getStartIndexMap();
  if (failed(verifyIndexMap(op, "start_index_map", map, indices,
                            numbers.getIndexVectorDim(), // (C2), (C3), (C19)
                            operand.getRank())) ||
      failed(verifyDims(op, "collapsed_slice_dims", collapsed, operand.getRank())) || // (C8)
      failed(verifySorted(op, "collapsed_slice_dims", collapsed)) ||                  // (C7)
      failed(verifyBatching(op, "operand_batching_dims", batching, operand,
                            "start_indices_batching_dims",                  // (C10),
                            numbers.getStartIndicesBatchingDims(), indices, // (C11), (C13) to (C17)
                            numbers.getIndexVectorDim())) ||
      failed(
          verifyDisjoint(op, "collapsed_slice_dims", collapsed, "operand_batching_dims", batching)) || // (C6)
      failed(verifyDisjoint(op, "start_index_map", map, "operand_batching_dims", batching)) || // (C18)
      failed(verifyCount(op, "slice_sizes", sizes.size(), operand.getRank())))                 // (C20)
    return failure();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (ShapedType::isDynamic(size))
      continue;
    if (size < 0 || (!operand.isDynamicDim(dim) && size > operand.getDimSize(dim))) // (C21)
      return op->emitOpError() << "expected slice size in range [0, " << operand.getDimSize(dim)
                               << "] in dimension " << dim << ", got " << size;
    if (size > 1 && (llvm::is_contained(collapsed, dim) || llvm::is_contained(batching, dim))) // (C9), (C12)
      return op->emitOpError() << "expected a slice size of at most 1 in dimension " << dim
                               << ", which the result does not have, got " << size;
  }
  int64_t windowRank = operand.getRank() - collapsed.size() - batching.size();
  if (windowRank != static_cast<int64_t>(offsets.size())) // (C1)
    return op->emitOpError() << "expected " << windowRank << " offset_dims, got " << offsets.size();
  SmallVector<int64_t> batch = getBatchShape(indices, numbers.getIndexVectorDim());
  int64_t rank = batch.size() + offsets.size();
  if (failed(verifyDims(op, "offset_dims", offsets, rank)) || // (C4), (C5)
      failed(verifySorted(op, "offset_dims", offsets)))
    return failure();
  SmallVector<int64_t> shape; // (C22)
  const int64_t *nextBatch = batch.begin();
  int64_t operandDim = -1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(offsets, dim)) {
      shape.push_back(*nextBatch++);
      continue;
    }
    do
      ++operandDim;
    while (llvm::is_contained(collapsed, operandDim) || llvm::is_contained(batching, operandDim));
    shape.push_back(sizes[operandDim]);
  }
  return verifyShape(op, result, shape);
}

LogicalResult GatherOp::verify() {
  if (failed(verifyElement(*this, getResult(), getOperand()))) // (C23)
    return failure();
  return verifyGather(*this, tensorOf(getOperand()), tensorOf(getStartIndices()), getResult(),
                      getDimensionNumbers(), getSliceSizes());
}

LogicalResult DynamicGatherOp::verify() {
  if (failed(verifyElement(*this, getResult(), getOperand()))) // (C23)
    return failure();
  RankedTensorType sizesType = tensorOf(getSliceSizes());
  int64_t rank = tensorOf(getOperand()).getRank();
  if (failed(verifyCompatibleShape(sizesType.getShape(), ArrayRef(rank)))) // (C20)
    return emitOpError() << "expected slice_sizes of shape " << textOf(rank) << ", got " << sizesType;
  SmallVector<int64_t> sizes(rank, ShapedType::kDynamic);
  DenseIntElementsAttr known;
  if (matchPattern(getSliceSizes(), m_Constant(&known)) && known.getNumElements() == rank)
    for (auto [size, value] : llvm::zip_equal(sizes, known.getValues<APInt>()))
      size = value.getSExtValue();
  return verifyGather(*this, tensorOf(getOperand()), tensorOf(getStartIndices()), getResult(),
                      getDimensionNumbers(), sizes);
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// Verifies (C4): the updates have the batches of the indices, and windows that fit the operand.
static LogicalResult verifyUpdates(ScatterOp op, RankedTensorType input, RankedTensorType indices,
                                   RankedTensorType update) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  SmallVector<int64_t> batch = getBatchShape(indices, numbers.getIndexVectorDim());
  ArrayRef<int64_t> window = numbers.getUpdateWindowDims();
  int64_t rank = batch.size() + window.size();
  if (update.getRank() != rank)
    return op.emitOpError() << "expected updates of rank " << rank << ", the batches of the indices and "
                            << window.size() << " update_window_dims, got " << update;
  const int64_t *nextBatch = batch.begin();
  int64_t inputDim = -1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = update.getDimSize(dim);
    if (!llvm::is_contained(window, dim)) {
      if (failed(verifyCompatibleDims({size, *nextBatch})))
        return op.emitOpError() << "expected updates of size " << *nextBatch << " in dimension " << dim
                                << ", as the indices, got " << size;
      ++nextBatch;
      continue;
    }
    do
      ++inputDim;
    while (llvm::is_contained(numbers.getInsertedWindowDims(), inputDim) ||
           llvm::is_contained(numbers.getInputBatchingDims(), inputDim));
    int64_t bound = input.getDimSize(inputDim);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(bound) && size > bound)
      return op.emitOpError() << "expected updates of at most " << bound << " in dimension " << dim
                              << ", as the operand in dimension " << inputDim << ", got " << size;
  }
  return success();
}

static LogicalResult verifyScatterDims(ScatterOp op, RankedTensorType input, RankedTensorType indices,
                                       RankedTensorType update) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> inserted = numbers.getInsertedWindowDims(), batching = numbers.getInputBatchingDims();
  ArrayRef<int64_t> window = numbers.getUpdateWindowDims(), map = numbers.getScatterDimsToOperandDims();
  if (failed(verifyIndexMap(op, "scatter_dims_to_operand_dims", map, indices, numbers.getIndexVectorDim(),
                            input.getRank())) ||                                   // (C19), (C21), (C22)
      failed(verifyDims(op, "inserted_window_dims", inserted, input.getRank())) || // (C11)
      failed(verifySorted(op, "inserted_window_dims", inserted)) ||                // (C10)
      failed(verifyBatching(op, "input_batching_dims", batching, input, "scatter_indices_batching_dims",
                            numbers.getScatterIndicesBatchingDims(), indices, // (C12) to (C18)
                            numbers.getIndexVectorDim())) ||
      failed(verifyDisjoint(op, "inserted_window_dims", inserted, "input_batching_dims", batching)) || // (C9)
      failed(verifyDisjoint(op, "scatter_dims_to_operand_dims", map, "input_batching_dims",
                            batching)) ||                                       // (C20)
      failed(verifyDims(op, "update_window_dims", window, update.getRank())) || // (C8)
      failed(verifySorted(op, "update_window_dims", window)))                   // (C7)
    return failure();
  int64_t windowRank = input.getRank() - inserted.size() - batching.size();
  if (windowRank != static_cast<int64_t>(window.size())) // (C2)
    return op.emitOpError() << "expected " << windowRank << " update_window_dims, got " << window.size();
  return success();
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty()) // (C5)
    return emitOpError() << "expected at least one operand";
  RankedTensorType input = tensorOf(getInputs()[0]), indices = tensorOf(getScatterIndices());
  RankedTensorType update = tensorOf(getUpdates()[0]);
  if (failed(verifySameShapes(*this, "operands", getInputs())) || // (C1)
      failed(verifySameShapes(*this, "updates", getUpdates())) || // (C3)
      failed(verifyScatterDims(*this, input, indices, update)) ||
      failed(verifyUpdates(*this, input, indices, update)))
    return failure();
  SmallVector<Type> elements;
  if (failed(verifyReducer(*this, "the update computation", getUpdateComputation(), getInputs().getTypes(),
                           getUpdates().getTypes(), elements))) // (C6), (C23)
    return failure();
  SmallVector<Type> expected;
  for (auto [operand, element] : llvm::zip_equal(getInputs(), elements))
    expected.push_back(tensorOf(operand).clone(element));
  auto fits = [](auto pair) {
    return getElementTypeOrSelf(std::get<0>(pair)) == getElementTypeOrSelf(std::get<1>(pair)) &&
           succeeded(verifyCompatibleShape(std::get<0>(pair), std::get<1>(pair)));
  };
  if (getNumResults() == expected.size() &&
      llvm::all_of(llvm::zip(expected, getResultTypes()), fits)) // (C24), (C25)
    return success();
  return emitOpError() << "expected results of the types of the operands, " << expected << ", got "
                       << getResultTypes();
}

LogicalResult TorchIndexSelectOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), index = tensorOf(getIndex());
  int64_t dim = getDim(), batches = getBatchDims();
  if (failed(verifyDims(*this, "dim", dim, operand.getRank()))) // (C1)
    return failure();
  if (batches < 0 || batches > dim || batches > index.getRank()) // (C1)
    return emitOpError() << "expected batch_dims in range [0, " << std::min(dim, index.getRank()) << "], got "
                         << batches;
  SmallVector<int64_t> shape(operand.getShape().take_front(dim)); // (C3)
  llvm::append_range(shape, index.getShape().drop_front(batches));
  llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
  return verifyType(*this, getResult(), RankedTensorType::get(shape, operand.getElementType())); // (C2)
}
