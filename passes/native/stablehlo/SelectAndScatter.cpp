//===-- SelectAndScatter.cpp - Gradients of pooling ------------------*- C++ -*-===//
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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cgx {
namespace {

/// Takes one source element after the other, in row-major order. Of its window, the first element inside of
/// the operand is selected, and a later one replaces it where `select(selected, later)` does not hold.
struct SelectAndScatterPattern : OpConversionPattern<stablehlo::SelectAndScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SelectAndScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand(), source = adaptor.getSource();
    auto type = cast<RankedTensorType>(operand.getType()),
         sourceType = cast<RankedTensorType>(source.getType());
    int64_t rank = type.getRank();
    SmallVector<int64_t> sizes(rank, 1);
    if (std::optional<ArrayRef<int64_t>> given = op.getWindowDimensions())
      sizes.assign(given->begin(), given->end());
    SmallVector<Window> windows =
        windowsOf(sizes, op.getWindowStrides(), op.getPadding(), std::nullopt, std::nullopt);
    Value filled = filledTensor(rewriter, loc, type, scalarOf(rewriter, loc, adaptor.getInitValue()));
    if (type.getNumElements() == 0 || sourceType.getNumElements() == 0) {
      rewriter.replaceOp(op, filled);
      return success();
    }

    bool emitted = true;
    auto emitRegion = [&](OpBuilder &b, Region &region, Value first, Value second) {
      FailureOr<SmallVector<Value>> results = emitScalarRegion(b, region, {first, second});
      emitted &= succeeded(results);
      return succeeded(results) ? results->front() : Value();
    };
    // Carries whether an element is selected, its value, and where it is.
    auto select = [&](OpBuilder &b, ValueRange window) {
      SmallVector<Value> none = {arith::ConstantIntOp::create(b, loc, 0, 1),
                                 zeroOf(b, loc, type.getElementType())};
      none.append(rank, constantIndex(b, loc, 0));
      return loopNest(
          b, loc, sizes, none,
          [&](OpBuilder &b, ValueRange place, ValueRange selected) -> SmallVector<Value> {
            Value inside = arith::ConstantIntOp::create(b, loc, 1, 1);
            SmallVector<Value> at, safe;
            for (int64_t dim = 0; dim < rank; ++dim) {
              Value start =
                  arith::MulIOp::create(b, loc, window[dim], constantIndex(b, loc, windows[dim].stride));
              Value index = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, start, place[dim]),
                                                  constantIndex(b, loc, -windows[dim].low));
              // As unsigned, a negative index is too large.
              Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                                 constantIndex(b, loc, type.getDimSize(dim)));
              inside = arith::AndIOp::create(b, loc, inside, fits);
              at.push_back(index);
              safe.push_back(clampedIndex(b, loc, index, type.getDimSize(dim) - 1));
            }
            Value element = tensor::ExtractOp::create(b, loc, operand, safe);
            Value stays = emitRegion(b, op.getSelect(), selected[1], element);
            if (!stays)
              return SmallVector<Value>(selected);
            Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
            stays = arith::AndIOp::create(b, loc, selected[0], stays);
            Value replaces = arith::AndIOp::create(b, loc, inside, arith::XOrIOp::create(b, loc, stays, yes));
            SmallVector<Value> later = {yes, element};
            llvm::append_range(later, at);
            SmallVector<Value> next;
            for (auto [now, before] : llvm::zip_equal(later, selected))
              next.push_back(arith::SelectOp::create(b, loc, replaces, now, before));
            return next;
          });
    };
    SmallVector<Value> results = loopNest(
        rewriter, loc, sourceType.getShape(), filled,
        [&](OpBuilder &b, ValueRange window, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> selected = select(b, window);
          ArrayRef<Value> at = ArrayRef(selected).drop_front(2);
          auto guarded = scf::IfOp::create(
              b, loc, selected[0],
              [&](OpBuilder &b, Location loc) {
                Value old = tensor::ExtractOp::create(b, loc, carried[0], at);
                Value update = tensor::ExtractOp::create(b, loc, source, window);
                Value next = emitRegion(b, op.getScatter(), old, update);
                Value result =
                    next ? tensor::InsertOp::create(b, loc, next, carried[0], at).getResult() : carried[0];
                scf::YieldOp::create(b, loc, result);
              },
              [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, carried); });
          return SmallVector<Value>(guarded.getResults());
        });
    if (!emitted)
      return rewriter.notifyMatchFailure(op, "a region is not elementwise");
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateSelectAndScatterPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SelectAndScatterPattern>(converter, patterns.getContext());
}

} // namespace cgx
