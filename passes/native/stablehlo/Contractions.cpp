//===-- Contractions.cpp - Matrix products -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Contractions.h"
#include "Conversion.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace cgx {
namespace {

int64_t extentOf(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t extent = 1;
  for (int64_t dim : dims)
    extent *= type.getDimSize(dim);
  return extent;
}

/// An operand as a matrix for each element of the batch.
struct Matrix {
  Value tensor;
  bool transposed; // (contracted, free) instead of (free, contracted)
};

/// Makes a matrix of an operand. Dimensions that lie in memory as (batch, free, contracted), or with the last
/// two swapped, are only grouped; any other order is copied into the first.
Matrix asMatrix(OpBuilder &b, Location loc, Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> free,
                ArrayRef<int64_t> contracted) {
  auto type = cast<RankedTensorType>(operand.getType());
  auto inOrder = [](ArrayRef<int64_t> first, ArrayRef<int64_t> second, ArrayRef<int64_t> third) {
    return llvm::to_vector(llvm::concat<const int64_t>(first, second, third));
  };
  auto ascends = [](ArrayRef<int64_t> order) {
    return llvm::equal(order, llvm::seq<int64_t>(0, order.size()));
  };
  bool swapped = ascends(inOrder(batch, contracted, free)) && !ascends(inOrder(batch, free, contracted));
  if (!swapped)
    operand = transposed(b, loc, operand, inOrder(batch, free, contracted));
  int64_t batches = extentOf(type, batch), rows = extentOf(type, free), columns = extentOf(type, contracted);
  if (swapped)
    std::swap(rows, columns);
  SmallVector<int64_t> shape = {rows, columns};
  if (!batch.empty())
    shape.insert(shape.begin(), batches);
  return {reshaped(b, loc, operand, shape), swapped};
}

struct DotGeneralPattern : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    Value product = contract(rewriter, op.getLoc(), adaptor.getLhs(), adaptor.getRhs(),
                             {SmallVector<int64_t>(numbers.getLhsBatchingDimensions()),
                              SmallVector<int64_t>(numbers.getRhsBatchingDimensions()),
                              SmallVector<int64_t>(numbers.getLhsContractingDimensions()),
                              SmallVector<int64_t>(numbers.getRhsContractingDimensions())},
                             cast<RankedTensorType>(getTypeConverter()->convertType(op.getType())));
    if (!product)
      return rewriter.notifyMatchFailure(op, "not a product of numbers");
    rewriter.replaceOp(op, product);
    return success();
  }
};

} // namespace

SmallVector<int64_t> ContractionDims::freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                               ArrayRef<int64_t> contracted) {
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim))
      free.push_back(dim);
  return free;
}

Type accumulatorOf(OpBuilder &b, Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : element;
}

Value withElement(OpBuilder &b, Location loc, Value tensor, Type element) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getElementType() == element)
    return tensor;
  auto type = RankedTensorType::get(from.getShape(), element);
  bool widens = element.getIntOrFloatBitWidth() > from.getElementTypeBitWidth();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  return linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{tensor},
                                   ValueRange{emptyTensor(b, loc, type)}, maps, parallel(type.getRank()),
                                   [&](OpBuilder &b, Location loc, ValueRange args) {
                                     Value converted =
                                         widens
                                             ? arith::ExtFOp::create(b, loc, element, args[0]).getResult()
                                             : arith::TruncFOp::create(b, loc, element, args[0]).getResult();
                                     linalg::YieldOp::create(b, loc, converted);
                                   })
      .getResult(0);
}

Value contract(OpBuilder &b, Location loc, Value lhs, Value rhs, ContractionDims dims,
               RankedTensorType type) {
  auto lhsType = cast<RankedTensorType>(lhs.getType()), rhsType = cast<RankedTensorType>(rhs.getType());
  if (!type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1) ||
      !lhsType.getElementType().isIntOrFloat() || !rhsType.getElementType().isIntOrFloat())
    return nullptr;
  // Both operands must group the contracted dimensions in one order: that of the lhs.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, dims.lhsContracted.size()));
  llvm::sort(order, [&](unsigned i, unsigned j) { return dims.lhsContracted[i] < dims.lhsContracted[j]; });
  SmallVector<int64_t> lhsContracted, rhsContracted;
  for (unsigned i : order) {
    lhsContracted.push_back(dims.lhsContracted[i]);
    rhsContracted.push_back(dims.rhsContracted[i]);
  }
  Matrix a =
      asMatrix(b, loc, lhs, dims.lhsBatch,
               ContractionDims::freeDims(lhsType.getRank(), dims.lhsBatch, lhsContracted), lhsContracted);
  Matrix c =
      asMatrix(b, loc, rhs, dims.rhsBatch,
               ContractionDims::freeDims(rhsType.getRank(), dims.rhsBatch, rhsContracted), rhsContracted);

  bool batched = !dims.lhsBatch.empty();
  unsigned loops = batched ? 4 : 3;
  AffineExpr n0 = b.getAffineDimExpr(0), m = b.getAffineDimExpr(loops - 3), n = b.getAffineDimExpr(loops - 2),
             k = b.getAffineDimExpr(loops - 1);
  auto map = [&](AffineExpr first, AffineExpr second) {
    SmallVector<AffineExpr> results = {first, second};
    if (batched)
      results.insert(results.begin(), n0);
    return AffineMap::get(loops, 0, results, b.getContext());
  };
  AffineMap maps[] = {a.transposed ? map(k, m) : map(m, k), c.transposed ? map(k, n) : map(n, k), map(m, n)};

  // Narrow floats become f32 before the product, not in it, so that BLAS can compute it.
  Type accumulator = accumulatorOf(b, type.getElementType());
  for (Matrix *matrix : {&a, &c})
    if (isa<FloatType>(accumulator) && isa<FloatType>(getElementTypeOrSelf(matrix->tensor.getType())))
      matrix->tensor = withElement(b, loc, matrix->tensor, accumulator);

  auto aType = cast<RankedTensorType>(a.tensor.getType()), cType = cast<RankedTensorType>(c.tensor.getType());
  SmallVector<int64_t> shape = {aType.getDimSize(aType.getRank() - (a.transposed ? 1 : 2)),
                                cType.getDimSize(cType.getRank() - (c.transposed ? 1 : 2))};
  if (batched)
    shape.insert(shape.begin(), aType.getDimSize(0));
  auto accumulated = RankedTensorType::get(shape, accumulator);
  Value zeros = filledTensor(b, loc, accumulated, zeroOf(b, loc, accumulated.getElementType()));
  Value product = linalg::ContractOp::create(b, loc, TypeRange{accumulated}, ValueRange{a.tensor, c.tensor},
                                             ValueRange{zeros}, b.getAffineMapArrayAttr(maps))
                      .getResult(0);
  product = withElement(b, loc, product, type.getElementType());
  return reshaped(b, loc, product, type.getShape());
}

void populateContractionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DotGeneralPattern>(converter, patterns.getContext());
}

} // namespace cgx
