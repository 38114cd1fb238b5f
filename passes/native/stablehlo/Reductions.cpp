//===-- Reductions.cpp - Reductions -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "Scalar.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace cgx {
namespace {

/// The loops run in the order of the operand's dimensions, so that memory is read in its order whichever
/// dimensions are reduced.
struct ReducePattern : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto from = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    SmallVector<utils::IteratorType> iterators = parallel(from.getRank());
    SmallVector<AffineExpr> kept;
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      if (llvm::is_contained(op.getDimensions(), dim))
        iterators[dim] = utils::IteratorType::reduction;
      else
        kept.push_back(rewriter.getAffineDimExpr(dim));
    }
    size_t count = adaptor.getInputs().size();
    SmallVector<AffineMap> maps(count, rewriter.getMultiDimIdentityMap(from.getRank()));
    maps.append(count, AffineMap::get(from.getRank(), 0, kept, rewriter.getContext()));
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (auto [result, init] : llvm::zip_equal(op.getResultTypes(), adaptor.getInitValues())) {
      types.push_back(getTypeConverter()->convertType(result));
      inits.push_back(
          filledTensor(rewriter, loc, cast<RankedTensorType>(types.back()), scalarOf(rewriter, loc, init)));
    }

    bool emitted = true;
    auto generic = linalg::GenericOp::create(
        rewriter, loc, types, adaptor.getInputs(), inits, maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange elements) {
          // The region takes the accumulator first, linalg last.
          SmallVector<Value> arguments(elements.drop_front(count));
          llvm::append_range(arguments, elements.take_front(count));
          FailureOr<SmallVector<Value>> combined = emitScalarRegion(b, op.getBody(), arguments);
          emitted = succeeded(combined);
          linalg::YieldOp::create(b, loc, emitted ? ValueRange(*combined) : elements.drop_front(count));
        });
    if (!emitted) {
      rewriter.eraseOp(generic);
      return rewriter.notifyMatchFailure(op, "the region is not elementwise");
    }
    rewriter.replaceOp(op, generic);
    return success();
  }
};

} // namespace

void populateReductionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReducePattern>(converter, patterns.getContext());
}

} // namespace cgx
