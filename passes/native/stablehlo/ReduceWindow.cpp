//===-- ReduceWindow.cpp - Reductions of windows ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "Scalar.h"
#include "Window.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cgx {
namespace {

/// A dimension whose windows all begin before the first element (or end after the last), one element apart:
/// each result is the previous one (or the next one), combined with one more element.
struct Cumulative {
  int64_t dim;
  bool fromEnd;
};

std::optional<Cumulative> matchCumulative(ArrayRef<Window> windows, RankedTensorType input) {
  std::optional<Cumulative> found;
  for (auto [dim, window] : llvm::enumerate(windows)) {
    if (window.isTrivial())
      continue;
    int64_t others = input.getDimSize(dim) - 1;
    bool fromStart = window.low == others && window.high == 0,
         fromEnd = window.low == 0 && window.high == others;
    if (found || window.size != others + 1 || window.stride != 1 || window.baseDilation != 1 ||
        window.dilation != 1 || !(fromStart || fromEnd))
      return std::nullopt;
    found = Cumulative{static_cast<int64_t>(dim), fromEnd};
  }
  return found;
}

struct ReduceWindowPattern : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    SmallVector<Window> windows = windowsOf(op.getWindowDimensions(), op.getWindowStrides(), op.getPadding(),
                                            op.getBaseDilations(), op.getWindowDilations());
    SmallVector<Value> inits;
    for (Value init : adaptor.getInitValues())
      inits.push_back(scalarOf(rewriter, loc, init));

    auto type = cast<RankedTensorType>(types.front());
    auto input = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    FailureOr<SmallVector<Value>> results;
    if (std::optional<Cumulative> cumulative = matchCumulative(windows, input))
      results = running(rewriter, op, adaptor.getInputs(), inits, *cumulative);
    else
      results = overWindows(rewriter, op, adaptor.getInputs(), inits, windows, types, type.getRank());
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "the region is not elementwise");
    rewriter.replaceOp(op, *results);
    return success();
  }

private:
  /// Builds loops over the elements, which read the result that they wrote last.
  static FailureOr<SmallVector<Value>> running(ConversionPatternRewriter &rewriter,
                                               stablehlo::ReduceWindowOp op, ValueRange inputs,
                                               ValueRange inits, Cumulative cumulative) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(inputs.front().getType());
    SmallVector<Value> empty;
    for (Value input : inputs)
      empty.push_back(ownTensor(rewriter, loc, cast<RankedTensorType>(input.getType())));
    bool emitted = true;
    SmallVector<Value> results =
        loopNest(rewriter, loc, type.getShape(), empty,
                 [&](OpBuilder &b, ValueRange indices, ValueRange carried) -> SmallVector<Value> {
                   SmallVector<Value> at(indices), before(indices);
                   Value step = indices[cumulative.dim], zero = constantIndex(b, loc, 0);
                   Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, step, zero);
                   Value last = arith::MaxSIOp::create(
                       b, loc, arith::SubIOp::create(b, loc, step, constantIndex(b, loc, 1)), zero);
                   auto place = [&](Value step) {
                     Value end = constantIndex(b, loc, type.getDimSize(cumulative.dim) - 1);
                     return cumulative.fromEnd ? arith::SubIOp::create(b, loc, end, step).getResult() : step;
                   };
                   at[cumulative.dim] = place(step);
                   before[cumulative.dim] = place(last);
                   SmallVector<Value> elements;
                   for (auto [result, init] : llvm::zip_equal(carried, inits))
                     elements.push_back(arith::SelectOp::create(
                         b, loc, first, init, tensor::ExtractOp::create(b, loc, result, before)));
                   for (Value input : inputs)
                     elements.push_back(tensor::ExtractOp::create(b, loc, input, at));
                   FailureOr<SmallVector<Value>> combined = emitScalarRegion(b, op.getBody(), elements);
                   emitted = succeeded(combined);
                   if (!emitted)
                     return SmallVector<Value>(carried);
                   SmallVector<Value> next;
                   for (auto [element, result] : llvm::zip_equal(*combined, carried))
                     next.push_back(tensor::InsertOp::create(b, loc, element, result, at));
                   return next;
                 });
    if (!emitted)
      return failure();
    return results;
  }

  /// Returns a loop nest over the results and the places of their windows. Dimensions that no window spans
  /// and that lie behind all others run innermost, so that they are vectors.
  static FailureOr<SmallVector<Value>> overWindows(ConversionPatternRewriter &rewriter,
                                                   stablehlo::ReduceWindowOp op, ValueRange inputs,
                                                   ValueRange inits, ArrayRef<Window> windows,
                                                   ArrayRef<Type> types, int64_t rank) {
    Location loc = op.getLoc();
    SmallVector<int64_t> spanned, sizes;
    for (auto [dim, window] : llvm::enumerate(windows))
      if (window.size > 1) {
        spanned.push_back(dim);
        sizes.push_back(window.size);
      }
    int64_t outer = spanned.empty() ? rank : spanned.back() + 1, places = spanned.size();
    SmallVector<AffineExpr> read, written, window;
    for (int64_t i = 0; i < places; ++i)
      window.push_back(rewriter.getAffineDimExpr(outer + i));
    for (int64_t dim = 0; dim < rank; ++dim) {
      written.push_back(rewriter.getAffineDimExpr(dim < outer ? dim : dim + places));
      auto *place = llvm::find(spanned, dim);
      read.push_back(windows[dim].at(written.back(), place == spanned.end()
                                                         ? rewriter.getAffineConstantExpr(0)
                                                         : window[place - spanned.begin()]));
    }
    auto map = [&](ArrayRef<AffineExpr> exprs) {
      return AffineMap::get(rank + places, 0, exprs, rewriter.getContext());
    };
    SmallVector<utils::IteratorType> iterators = parallel(rank + places);
    std::fill_n(iterators.begin() + outer, places, utils::IteratorType::reduction);

    // Nobody reads the last input: its shape is the extent of the loops over places.
    SmallVector<Value> operands, outputs;
    for (auto [input, init] : llvm::zip_equal(inputs, inits))
      operands.push_back(paddedFor(windows, rewriter, loc, input, init));
    operands.push_back(emptyTensor(rewriter, loc, RankedTensorType::get(sizes, rewriter.getI8Type())));
    SmallVector<AffineMap> maps(inputs.size(), map(read));
    maps.push_back(map(window));
    maps.append(inputs.size(), map(written));
    for (auto [type, init] : llvm::zip_equal(types, inits))
      outputs.push_back(filledTensor(rewriter, loc, cast<RankedTensorType>(type), init));

    bool emitted = true;
    auto generic = linalg::GenericOp::create(
        rewriter, loc, types, operands, outputs, maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange elements) {
          SmallVector<Value> arguments(elements.take_back(inputs.size()));
          llvm::append_range(arguments, elements.take_front(inputs.size()));
          FailureOr<SmallVector<Value>> combined = emitScalarRegion(b, op.getBody(), arguments);
          emitted = succeeded(combined);
          linalg::YieldOp::create(b, loc,
                                  emitted ? ValueRange(*combined) : elements.take_back(inputs.size()));
        });
    if (!emitted)
      return failure();
    return SmallVector<Value>(generic.getResults());
  }
};

} // namespace

void populateReduceWindowPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReduceWindowPattern>(converter, patterns.getContext());
}

} // namespace cgx
