//===-- Conversion.cpp - Helpers of the conversions of StableHLO -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "NarrowTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace cgx {

SignlessTypeConverter::SignlessTypeConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](IntegerType type) { return getStorageType(type); });
  addConversion([](FloatType type) { return getStorageType(type); });
  addConversion(
      [this](RankedTensorType type) -> Type { return type.clone(convertType(type.getElementType())); });
}

Value emptyTensor(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
}

Value ownTensor(OpBuilder &b, Location loc, RankedTensorType type) {
  return bufferization::AllocTensorOp::create(b, loc, type, /*dynamicSizes=*/ValueRange());
}

Value filledTensor(OpBuilder &b, Location loc, RankedTensorType type, Value scalar) {
  return linalg::FillOp::create(b, loc, scalar, emptyTensor(b, loc, type)).getResult(0);
}

Value zeroOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

Value scalarOf(OpBuilder &b, Location loc, Value tensor) {
  return tensor::ExtractOp::create(b, loc, tensor, ValueRange());
}

Value reshaped(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getShape() == shape)
    return tensor;
  auto to = RankedTensorType::get(shape, from.getElementType());
  auto collapse = [&](Value value, RankedTensorType type, ArrayRef<ReassociationIndices> groups) -> Value {
    return tensor::CollapseShapeOp::create(b, loc, type, value, groups);
  };
  auto expand = [&](Value value, ArrayRef<ReassociationIndices> groups) -> Value {
    return tensor::ExpandShapeOp::create(b, loc, to, value, groups);
  };
  if (auto groups = getReassociationIndicesForReshape(from, to))
    return from.getRank() > to.getRank() ? collapse(tensor, to, *groups) : expand(tensor, *groups);
  // Through one dimension.
  auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(1);
    llvm::append_range(groups.front(), llvm::seq<int64_t>(0, rank));
    return groups;
  };
  Value line = from.getRank() == 1 ? tensor : collapse(tensor, flat, all(from.getRank()));
  return to.getRank() == 1 ? line : expand(line, all(to.getRank()));
}

Value withoutUnitDims(OpBuilder &b, Location loc, Value tensor, function_ref<bool(int64_t)> dropped) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!dropped(dim))
      shape.push_back(type.getDimSize(dim));
  return reshaped(b, loc, tensor, shape);
}

Value transposed(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, rank)))
    return tensor;
  SmallVector<int64_t> shape;
  SmallVector<unsigned> inverse(rank);
  for (auto [to, from] : llvm::enumerate(permutation)) {
    shape.push_back(type.getDimSize(from));
    inverse[from] = to;
  }
  AffineMap maps[] = {AffineMap::getPermutationMap(inverse, b.getContext()), b.getMultiDimIdentityMap(rank)};
  auto result = RankedTensorType::get(shape, type.getElementType());
  return linalg::GenericOp::create(
             b, loc, TypeRange{result}, ValueRange{tensor}, ValueRange{emptyTensor(b, loc, result)}, maps,
             parallel(rank),
             [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); })
      .getResult(0);
}

Value padded(OpBuilder &b, Location loc, Value tensor, Value scalar, ArrayRef<int64_t> low,
             ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  auto from = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape, source, target, sizes, strides;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    int64_t extent = from.getDimSize(dim), stride = interior[dim] + 1;
    shape.push_back(low[dim] + high[dim] + std::max<int64_t>(0, (extent - 1) * stride + 1));
    int64_t first = low[dim] < 0 ? llvm::divideCeilSigned(-low[dim], stride) : 0;
    int64_t last = std::min(extent - 1, llvm::divideFloorSigned(shape[dim] - 1 - low[dim], stride));
    source.push_back(first);
    target.push_back(low[dim] + first * stride);
    sizes.push_back(std::max<int64_t>(0, last - first + 1));
    strides.push_back(stride);
  }
  SmallVector<int64_t> ones(from.getRank(), 1);
  auto indices = [&](ArrayRef<int64_t> values) { return getAsIndexOpFoldResult(b.getContext(), values); };
  bool none = llvm::is_contained(sizes, 0);
  if (!none && from.getShape() != ArrayRef(sizes))
    tensor = tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(sizes, from.getElementType()),
                                            tensor, indices(source), indices(sizes), indices(ones));
  if (!none && shape == sizes)
    return tensor;
  Value result = filledTensor(b, loc, RankedTensorType::get(shape, from.getElementType()), scalar);
  if (none)
    return result;
  return tensor::InsertSliceOp::create(b, loc, tensor, result, indices(target), indices(sizes),
                                       indices(strides));
}

Value indexOf(OpBuilder &b, Location loc, Value integer, Type original) {
  auto index = b.getIndexType();
  if (original.isUnsignedInteger())
    return arith::IndexCastUIOp::create(b, loc, index, integer);
  return arith::IndexCastOp::create(b, loc, index, integer);
}

Value constantIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value clampedIndex(OpBuilder &b, Location loc, Value index, int64_t upper) {
  Value atLeastZero = arith::MaxSIOp::create(b, loc, index, constantIndex(b, loc, 0));
  return arith::MinSIOp::create(b, loc, atLeastZero, constantIndex(b, loc, upper));
}

SmallVector<Value>
loopNest(OpBuilder &b, Location loc, ArrayRef<int64_t> extents, ValueRange inits,
         function_ref<SmallVector<Value>(OpBuilder &, ValueRange indices, ValueRange carried)> body) {
  if (extents.empty())
    return body(b, ValueRange(), inits);
  SmallVector<Value> lower(extents.size(), constantIndex(b, loc, 0)), upper,
      steps(extents.size(), constantIndex(b, loc, 1));
  for (int64_t extent : extents)
    upper.push_back(constantIndex(b, loc, extent));
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, lower, upper, steps, inits,
      [&](OpBuilder &b, Location, ValueRange indices, ValueRange carried) -> scf::ValueVector {
        SmallVector<Value> next = body(b, indices, carried);
        return {next.begin(), next.end()};
      });
  return SmallVector<Value>(nest.results);
}

SmallVector<utils::IteratorType> parallel(int64_t count) {
  return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
}

} // namespace cgx
