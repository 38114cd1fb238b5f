//===-- ConvolutionVerifiers.cpp - verifiers of convolutions -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Verifies one of the three layouts: it has every dimension of its tensor once.
static LogicalResult verifyLayout(Operation *op, StringRef name, int64_t first, int64_t second,
                                  ArrayRef<int64_t> spatial, int64_t rank) {
  SmallVector<int64_t> dims{first, second};
  llvm::append_range(dims, spatial);
  if (static_cast<int64_t>(dims.size()) != rank)
    return op->emitOpError() << "expected " << rank - 2 << " spatial dimensions of the " << name << ", got "
                             << spatial.size();
  return verifyDims(op, ("dimensions of the " + name).str(), dims, rank);
}

static LogicalResult verifyLayouts(Operation *op, ConvDimensionNumbersAttr numbers, int64_t rank) {
  return success(
      succeeded(verifyLayout(op, "input", numbers.getInputBatchDimension(), // (C12), (C13)
                             numbers.getInputFeatureDimension(), numbers.getInputSpatialDimensions(),
                             rank)) &&
      succeeded(verifyLayout(op, "kernel", numbers.getKernelInputFeatureDimension(), // (C17), (C18)
                             numbers.getKernelOutputFeatureDimension(), numbers.getKernelSpatialDimensions(),
                             rank)) &&
      succeeded(verifyLayout(op, "output", numbers.getOutputBatchDimension(), // (C19), (C20)
                             numbers.getOutputFeatureDimension(), numbers.getOutputSpatialDimensions(),
                             rank)));
}

/// Fails unless `count` groups divide `size`.
static LogicalResult verifyDivides(Operation *op, StringRef name, int64_t count, StringRef what,
                                   int64_t size) {
  if (ShapedType::isDynamic(size) || size % count == 0)
    return success();
  return op->emitOpError() << "expected " << name << " to divide the " << what << ", " << size << ", got "
                           << count;
}

static LogicalResult verifyGroups(Operation *op, RankedTensorType lhs, RankedTensorType rhs,
                                  ConvDimensionNumbersAttr numbers, int64_t featureGroups,
                                  int64_t batchGroups) {
  if (featureGroups < 1 || batchGroups < 1) // (C21), (C22)
    return op->emitOpError() << "expected positive feature_group_count and batch_group_count, got "
                             << featureGroups << " and " << batchGroups;
  if (featureGroups > 1 && batchGroups > 1) // (C23)
    return op->emitOpError() << "expected groups of features or of batches, got " << featureGroups << " and "
                             << batchGroups;
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t features = lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t inputs = rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t outputs = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (failed(verifyDivides(op, "batch_group_count", batchGroups, "input batch", batch)) ||           // (C10)
      failed(verifyDivides(op, "feature_group_count", featureGroups, "input features", features)) || // (C11)
      failed(verifyDivides(op, "batch_group_count", batchGroups, "output features of the kernel",
                           outputs)) || // (C15)
      failed(verifyDivides(op, "feature_group_count", featureGroups, "output features of the kernel",
                           outputs))) // (C16)
    return failure();
  if (!ShapedType::isDynamic(features) && !ShapedType::isDynamic(inputs) &&
      features / featureGroups != inputs) // (C14)
    return op->emitOpError() << "expected " << features / featureGroups << " input features of the kernel, "
                             << features << " in " << featureGroups << " groups, got " << inputs;
  return success();
}

/// Verifies everything but the padding, which dynamic_conv computes. Returns the shape of the result, with
/// dynamic spatial dimensions where `padding` is not known.
template <typename ConvOp>
static FailureOr<SmallVector<int64_t>>
verifyConvolution(ConvOp op, std::optional<DenseIntElementsAttr> padding, bool isPaddingKnown) {
  RankedTensorType lhs = tensorOf(op.getLhs()), rhs = tensorOf(op.getRhs());
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  int64_t rank = lhs.getRank();
  if (rhs.getRank() != rank || rank < 2) // (C1)
    return op.emitOpError() << "expected operands of one rank of at least 2, got " << lhs << " and " << rhs;
  if (failed(verifyLayouts(op, numbers, rank)) ||
      failed(verifyGroups(op, lhs, rhs, numbers, op.getFeatureGroupCount(), op.getBatchGroupCount())) ||
      failed(verifyComplexProduct(op)) || failed(verifyPrecision(op, op.getPrecisionConfig()))) // (C24)
    return failure();
  SmallVector<int64_t> spatial, reach;
  for (int64_t dim : numbers.getInputSpatialDimensions())
    spatial.push_back(isPaddingKnown ? lhs.getDimSize(dim) : ShapedType::kDynamic);
  for (auto [index, dim] : llvm::enumerate(numbers.getKernelSpatialDimensions())) {
    reach.push_back(rhs.getDimSize(dim));
    if (ShapedType::isDynamic(reach.back())) {
      spatial[index] = ShapedType::kDynamic;
      reach.back() = 1;
    }
  }
  Window window{reach, op.getWindowStrides(), op.getLhsDilation(), op.getRhsDilation(), padding};
  if (failed(verifyWindow(op, window, rank - 2))) // (C2) to (C8)
    return failure();
  if (op.getWindowReversal() &&
      failed(verifyCount(op, "window_reversal", op.getWindowReversal()->size(), rank - 2)))
    return failure();                                                                   // (C9)
  if (getExpressedType(lhs.getElementType()) != getExpressedType(rhs.getElementType())) // (C27)
    return op.emitOpError() << "expected operands of one element type, got " << lhs << " and " << rhs;
  auto mayHaveScales = [&](int64_t dim) {
    return dim == static_cast<int64_t>(numbers.getKernelOutputFeatureDimension());
  };
  ProductDimensions dims{mayHaveScales, numbers.getOutputFeatureDimension(), /*needsZeroRhs=*/false};
  if (failed(verifyQuantizedProduct(op, op.getLhs(), op.getRhs(), op.getResult(), dims))) // (C28) to (C34)
    return failure();
  FailureOr<SmallVector<int64_t>> counts = countWindows(op, window, spatial);
  if (failed(counts))
    return failure();
  SmallVector<int64_t> shape(rank); // (C25), (C26)
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  shape[numbers.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / static_cast<int64_t>(op.getBatchGroupCount());
  shape[numbers.getOutputFeatureDimension()] = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  for (auto [dim, count] : llvm::zip_equal(numbers.getOutputSpatialDimensions(), *counts))
    shape[dim] = count;
  return shape;
}

LogicalResult ConvolutionOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = verifyConvolution(*this, getPadding(), /*isPaddingKnown=*/true);
  return failed(shape) ? failure() : verifyShape(*this, getResult(), *shape);
}

LogicalResult DynamicConvOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = verifyConvolution(*this, std::nullopt, /*isPaddingKnown=*/false);
  if (failed(shape))
    return failure();
  int64_t rows = tensorOf(getLhs()).getRank() - 2;
  if (failed(verifyCompatibleShape(tensorOf(getPadding()).getShape(), {rows, 2}))) // (C4)
    return emitOpError() << "expected padding of shape " << textOf({rows, 2}) << ", got "
                         << getPadding().getType();
  return verifyShape(*this, getResult(), *shape);
}
