//===-- DynamicVerifiers.cpp - verifiers of ops whose shapes are computed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Returns the numbers that a tensor of dimensions holds, where it is a constant; else dynamic ones.
static SmallVector<int64_t> getKnownSizes(Value sizes, int64_t count) {
  SmallVector<int64_t> known(count, ShapedType::kDynamic);
  DenseIntElementsAttr constant;
  if (matchPattern(sizes, m_Constant(&constant)) && constant.getNumElements() == count)
    for (auto [size, value] : llvm::zip_equal(known, constant.getValues<APInt>()))
      size = value.getSExtValue();
  return known;
}

/// Verifies a tensor with an entry per dimension.
static LogicalResult verifyEntries(Operation *op, StringRef name, Value entries, int64_t rank) {
  RankedTensorType type = cast<RankedTensorType>(entries.getType());
  if (!type.isDynamicDim(0) && type.getDimSize(0) == rank)
    return success();
  return op->emitOpError() << "expected " << name << " of " << rank << " entries, one per dimension, got "
                           << type;
}

static LogicalResult verifyDimension(Operation *op, uint64_t dimension, int64_t rank) {
  return verifyDims(op, "dimension", static_cast<int64_t>(dimension), rank);
}

LogicalResult GetDimensionSizeOp::verify() { // (C1)
  return verifyDimension(*this, getDimension(), tensorOf(getOperand()).getRank());
}

LogicalResult SetDimensionSizeOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  if (failed(verifyDimension(*this, getDimension(), operand.getRank())) || // (C1)
      failed(verifyRank(*this, "size", getSize(), 0)))                     // (C2)
    return failure();
  SmallVector<int64_t> shape(operand.getShape());
  shape[getDimension()] = ShapedType::kDynamic;
  return verifyType(*this, getResult(), RankedTensorType::get(shape, operand.getElementType())); // (C3)
}

LogicalResult DynamicIotaOp::verify() {
  int64_t rank = tensorOf(getResult()).getRank();
  if (failed(verifyDims(*this, "iota_dimension", static_cast<int64_t>(getIotaDimension()), rank)) || // (C1)
      failed(verifyEntries(*this, "output_shape", getOutputShape(), rank)))                          // (C2)
    return failure();
  return verifyShape(*this, getResult(), getKnownSizes(getOutputShape(), rank));
}

LogicalResult DynamicReshapeOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), result = tensorOf(getResult());
  if (failed(verifyElement(*this, getResult(), getOperand())) || // (C1)
      failed(verifyReshapedQuantization(*this, getOperand(), getResult())) ||
      failed(verifyEntries(*this, "output_shape", getOutputShape(), result.getRank()))) // (C3)
    return failure();
  SmallVector<int64_t> known = getKnownSizes(getOutputShape(), result.getRank());
  for (ArrayRef<int64_t> shape : {result.getShape(), ArrayRef(known)}) { // (C2)
    std::optional<int64_t> count = getElementCount(operand.getShape()), got = getElementCount(shape);
    if (count && got && *count != *got)
      return emitOpError() << "expected a result of " << *count << " elements, got " << *got << " of shape "
                           << textOf(shape);
  }
  return verifyShape(*this, getResult(), known);
}

/// Verifies (C5), and that hints name dimensions of the operand.
static LogicalResult verifyHints(DynamicBroadcastInDimOp op, int64_t rank) {
  SmallVector<int64_t> hints(op.getKnownExpandingDimensions().value_or(ArrayRef<int64_t>()));
  llvm::append_range(hints, op.getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>()));
  return verifyDims(op, "known dimensions", hints, rank);
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  RankedTensorType operand = tensorOf(getOperand()), result = tensorOf(getResult());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (failed(verifyElement(*this, getResult(), getOperand())) ||                            // (C1)
      failed(verifyCount(*this, "broadcast_dimensions", dims.size(), operand.getRank())) || // (C2)
      failed(verifyDims(*this, "broadcast_dimensions", dims, result.getRank())) ||
      failed(verifyEntries(*this, "output_dimensions", getOutputDimensions(), result.getRank())) || // (C4)
      failed(verifyHints(*this, operand.getRank())) ||                                              // (C5)
      failed(verifySameQuantization(
          *this, getOperand(), getResult(), [&](int64_t dim) { return dims[dim]; },
          /*repeatsScales=*/true))) // (C6)
    return failure();
  SmallVector<int64_t> known = getKnownSizes(getOutputDimensions(), result.getRank());
  if (failed(verifyShape(*this, getResult(), known)))
    return failure();
  for (auto [index, dim] : llvm::enumerate(dims)) // (C3)
    for (int64_t target : {result.getDimSize(dim), known[dim]}) {
      int64_t size = operand.getDimSize(index);
      if (size != 1 && failed(verifyCompatibleDims({size, target})))
        return emitOpError() << "expected dimension " << index << " of the operand to be 1 or " << target
                             << ", got " << size;
    }
  return success();
}

LogicalResult DynamicPadOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  if (failed(verifyElement(*this, getResult(), getOperand())) ||
      failed(verifyElement(*this, getPaddingValue(), getOperand())) || // (C1)
      failed(verifyRank(*this, "a padding value", getPaddingValue(), 0)) ||
      failed(verifyRank(*this, "a result", getResult(), operand.getRank()))) // (C4)
    return failure();
  for (Value amount : {getEdgePaddingLow(), getEdgePaddingHigh(), getInteriorPadding()}) // (C2)
    if (failed(verifyEntries(*this, "padding", amount, operand.getRank())))
      return failure();
  SmallVector<int64_t> low = getKnownSizes(getEdgePaddingLow(), operand.getRank()),
                       high = getKnownSizes(getEdgePaddingHigh(), operand.getRank()),
                       interior = getKnownSizes(getInteriorPadding(), operand.getRank());
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    if (interior[i] < 0 && !ShapedType::isDynamic(interior[i]))
      return emitOpError() << "expected interior padding of at least 0, got " << textOf(interior);
    int64_t size = operand.getDimSize(i);
    bool isKnown = !llvm::any_of(ArrayRef({size, low[i], high[i], interior[i]}), ShapedType::isDynamic);
    std::optional<int64_t> padded =
        isKnown ? llvm::checkedMulAdd(std::max<int64_t>(size - 1, 0), interior[i], size) : std::nullopt;
    for (int64_t edge : {low[i], high[i]})
      padded = padded ? llvm::checkedAdd(*padded, edge) : padded;
    if (isKnown && (!padded || *padded < 0))
      return emitOpError() << "expected padding that leaves dimension " << i << " at least 0, got " << low[i]
                           << ", " << high[i] << " and " << interior[i] << " on " << size;
    shape.push_back(padded.value_or(ShapedType::kDynamic));
  }
  return verifyShape(*this, getResult(), shape); // (C4)
}

LogicalResult RealDynamicSliceOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  if (failed(verifyElement(*this, getResult(), getOperand())) ||
      failed(verifyRank(*this, "a result", getResult(), operand.getRank()))) // (C1)
    return failure();
  if (getStartIndices().getType() != getLimitIndices().getType() ||
      getStartIndices().getType() != getStrides().getType()) // (C2)
    return emitOpError() << "expected starts, limits and strides of one type, got "
                         << getStartIndices().getType() << ", " << getLimitIndices().getType() << " and "
                         << getStrides().getType();
  return verifyEntries(*this, "start_indices", getStartIndices(), operand.getRank()); // (C2)
}
