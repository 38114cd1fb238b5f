//===-- GatherScatter.cpp - Gather and scatter -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Both address an operand through a tensor of start indices. In either, the dimensions of the batch (the
// result of the gather, the updates of the scatter) are split into window dimensions, which run inside a
// slice of the operand, and the others, which pick the row of start indices.
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "Scalar.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cgx {
namespace {

/// The dimension numbers of either operation, under one set of names.
struct Addressing {
  ArrayRef<int64_t> windowDims;         // of the batch: gather's offset_dims, scatter's update_window_dims
  ArrayRef<int64_t> absentDims;         // of the operand: not in the window, extent 1 (collapsed or inserted)
  ArrayRef<int64_t> operandBatchDims;   // of the operand: run along with the start indices
  ArrayRef<int64_t> indicesBatchDims;   // of the start indices
  ArrayRef<int64_t> indexToOperandDims; // component of a start index -> dimension of the operand
  int64_t indexVectorDim;

  /// Returns where the start index of one batch element points, one index for each operand
  /// dimension. `batch` are the indices that are not in a window.
  SmallVector<Value> starts(OpBuilder &b, Location loc, Value indices, Type original, int64_t operandRank,
                            ArrayRef<Value> batch) const {
    auto type = cast<RankedTensorType>(indices.getType());
    SmallVector<Value> position; // in the start indices, without the index vector
    unsigned next = 0;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      position.push_back(dim == indexVectorDim ? Value() : batch[next++]);

    SmallVector<Value> result(operandRank, constantIndex(b, loc, 0));
    for (auto [component, dim] : llvm::enumerate(indexToOperandDims)) {
      SmallVector<Value> at = position;
      if (indexVectorDim < type.getRank())
        at[indexVectorDim] = constantIndex(b, loc, component);
      result[dim] = indexOf(b, loc, tensor::ExtractOp::create(b, loc, indices, at), original);
    }
    for (auto [dim, indicesDim] : llvm::zip_equal(operandBatchDims, indicesBatchDims))
      result[dim] = position[indicesDim];
    return result;
  }

  /// Returns the window index for each operand dimension; null where the operand is not in the window.
  SmallVector<Value> window(int64_t operandRank, ArrayRef<Value> batch) const {
    SmallVector<Value> result(operandRank);
    unsigned next = 0;
    for (int64_t dim = 0; dim < operandRank; ++dim)
      if (!llvm::is_contained(absentDims, dim) && !llvm::is_contained(operandBatchDims, dim))
        result[dim] = batch[windowDims[next++]];
    return result;
  }

  /// Returns the indices that pick a start index, in order.
  SmallVector<Value> outside(ArrayRef<Value> batch) const {
    SmallVector<Value> result;
    for (auto [dim, index] : llvm::enumerate(batch))
      if (!llvm::is_contained(windowDims, static_cast<int64_t>(dim)))
        result.push_back(index);
    return result;
  }
};

Value plus(OpBuilder &b, Location loc, Value start, Value offset) {
  return offset ? arith::AddIOp::create(b, loc, start, offset).getResult() : start;
}

/// Start indices are clamped so that the whole slice lies within the operand.
struct GatherPattern : OpConversionPattern<stablehlo::GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    Addressing addressing{numbers.getOffsetDims(),          numbers.getCollapsedSliceDims(),
                          numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims(),
                          numbers.getStartIndexMap(),       numbers.getIndexVectorDim()};
    Value operand = adaptor.getOperand();
    auto from = cast<RankedTensorType>(operand.getType());
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Type indexType = getElementTypeOrSelf(op.getStartIndices().getType());
    AffineMap identity[] = {rewriter.getMultiDimIdentityMap(type.getRank())};
    Value empty = emptyTensor(rewriter, op.getLoc(), type);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{type}, ValueRange(), ValueRange{empty}, identity, parallel(type.getRank()),
        [&](OpBuilder &b, Location loc, ValueRange) {
          SmallVector<Value> batch;
          for (int64_t dim = 0; dim < type.getRank(); ++dim)
            batch.push_back(linalg::IndexOp::create(b, loc, dim));
          SmallVector<Value> at = addressing.starts(b, loc, adaptor.getStartIndices(), indexType,
                                                    from.getRank(), addressing.outside(batch));
          SmallVector<Value> window = addressing.window(from.getRank(), batch);
          for (int64_t dim : addressing.indexToOperandDims)
            at[dim] = clampedIndex(b, loc, at[dim], from.getDimSize(dim) - op.getSliceSizes()[dim]);
          for (auto [index, offset] : llvm::zip_equal(at, window))
            index = plus(b, loc, index, offset);
          linalg::YieldOp::create(b, loc, ValueRange{tensor::ExtractOp::create(b, loc, operand, at)});
        });
    return success();
  }
};

/// Applies one update after the other in row-major order of the updates, so that equal indices give the same
/// sum on every machine. An update whose window does not fit into the operand is dropped whole, as in XLA.
struct ScatterPattern : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    Addressing addressing{numbers.getUpdateWindowDims(),         numbers.getInsertedWindowDims(),
                          numbers.getInputBatchingDims(),        numbers.getScatterIndicesBatchingDims(),
                          numbers.getScatterDimsToOperandDims(), numbers.getIndexVectorDim()};
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    auto updateType = cast<RankedTensorType>(adaptor.getUpdates().front().getType());
    Type indexType = getElementTypeOrSelf(op.getScatterIndices().getType());

    // Updates outside, window inside: the start index is read and checked once for each window.
    SmallVector<int64_t> outer, inner(addressing.windowDims);
    for (int64_t dim = 0; dim < updateType.getRank(); ++dim)
      if (!llvm::is_contained(inner, dim))
        outer.push_back(dim);
    SmallVector<Value> batch(updateType.getRank());
    bool emitted = true;

    auto nest = [&](OpBuilder &b, ArrayRef<int64_t> dims, ValueRange inits,
                    function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> body) {
      SmallVector<int64_t> extents;
      for (int64_t dim : dims)
        extents.push_back(updateType.getDimSize(dim));
      return loopNest(b, loc, extents, inits, [&](OpBuilder &b, ValueRange indices, ValueRange results) {
        for (auto [dim, index] : llvm::zip_equal(dims, indices))
          batch[dim] = index;
        return body(b, results);
      });
    };

    auto updateWindow = [&](OpBuilder &b, ValueRange results, ArrayRef<Value> starts) {
      return nest(b, inner, results, [&](OpBuilder &b, ValueRange results) {
        SmallVector<Value> at(starts), window = addressing.window(type.getRank(), batch);
        for (auto [index, offset] : llvm::zip_equal(at, window))
          index = plus(b, loc, index, offset);
        SmallVector<Value> elements, next;
        for (Value result : results)
          elements.push_back(tensor::ExtractOp::create(b, loc, result, at));
        for (Value update : adaptor.getUpdates())
          elements.push_back(tensor::ExtractOp::create(b, loc, update, batch));
        FailureOr<SmallVector<Value>> combined = emitScalarRegion(b, op.getUpdateComputation(), elements);
        if (failed(combined)) {
          emitted = false;
          return SmallVector<Value>(results);
        }
        for (auto [element, result] : llvm::zip_equal(*combined, results))
          next.push_back(tensor::InsertOp::create(b, loc, element, result, at));
        return next;
      });
    };

    SmallVector<Value> results = nest(
        rewriter, outer, adaptor.getInputs(), [&](OpBuilder &b, ValueRange results) -> SmallVector<Value> {
          SmallVector<Value> starts = addressing.starts(b, loc, adaptor.getScatterIndices(), indexType,
                                                        type.getRank(), addressing.outside(batch));
          Value fits = arith::ConstantIntOp::create(b, loc, 1, 1);
          for (int64_t dim : addressing.indexToOperandDims) {
            Value last =
                constantIndex(b, loc, type.getDimSize(dim) - windowExtent(addressing, updateType, dim, type));
            Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, starts[dim], last);
            Value positive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, starts[dim],
                                                   constantIndex(b, loc, 0));
            fits = arith::AndIOp::create(b, loc, fits, arith::AndIOp::create(b, loc, inside, positive));
          }
          auto guarded = scf::IfOp::create(
              b, loc, fits,
              [&](OpBuilder &b, Location loc) {
                scf::YieldOp::create(b, loc, updateWindow(b, results, starts));
              },
              [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, results); });
          return SmallVector<Value>(guarded.getResults());
        });
    if (!emitted)
      return rewriter.notifyMatchFailure(op, "the region is not elementwise");
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Returns how far an update reaches in one dimension of the operand.
  static int64_t windowExtent(const Addressing &addressing, RankedTensorType updates, int64_t dim,
                              RankedTensorType operand) {
    unsigned next = 0;
    for (int64_t d = 0; d < operand.getRank(); ++d) {
      if (llvm::is_contained(addressing.absentDims, d) || llvm::is_contained(addressing.operandBatchDims, d))
        continue;
      int64_t extent = updates.getDimSize(addressing.windowDims[next++]);
      if (d == dim)
        return extent;
    }
    return 1;
  }
};

} // namespace

void populateGatherScatterPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<GatherPattern, ScatterPattern>(converter, patterns.getContext());
}

} // namespace cgx
