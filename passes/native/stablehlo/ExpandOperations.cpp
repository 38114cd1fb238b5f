//===-- ExpandOperations.cpp - Operations in terms of others ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"
#include "cgx/Passes/Native.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_EXPANDOPERATIONSPASS
#include "cgx/Passes/Native.h.inc"

Value splatOf(ImplicitLocOpBuilder &b, RankedTensorType type, double value) {
  Type element = type.getElementType();
  DenseElementsAttr attr;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto part = [&](double number) { return b.getFloatAttr(complex.getElementType(), number).getValue(); };
    attr = DenseElementsAttr::get(type, std::complex<APFloat>(part(value), part(0)));
  } else if (isa<FloatType>(element)) {
    attr = DenseElementsAttr::get(type, b.getFloatAttr(element, value).getValue());
  } else {
    APInt number(64, static_cast<int64_t>(value), /*isSigned=*/true);
    attr = DenseElementsAttr::get(type, number.sextOrTrunc(element.getIntOrFloatBitWidth()));
  }
  return stablehlo::ConstantOp::create(b, type, attr);
}

Value sumOver(ImplicitLocOpBuilder &b, Value operand, ArrayRef<int64_t> dimensions) {
  if (dimensions.empty())
    return operand;
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dimensions, dim))
      shape.push_back(type.getDimSize(dim));
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto reduce =
      stablehlo::ReduceOp::create(b, TypeRange{RankedTensorType::get(shape, type.getElementType())},
                                  ValueRange{operand}, ValueRange{splatOf(b, scalar, 0)}, dimensions);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
  Value sum = stablehlo::AddOp::create(b, scalar, body->getArgument(0), body->getArgument(1));
  stablehlo::ReturnOp::create(b, sum);
  return reduce->getResult(0);
}

namespace {

/// real(x) -> x, imag(x) -> 0 for real x
template <typename OpTy> struct PartOfRealPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Value operand = op->getOperand(0);
    if (operand.getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "of complex numbers");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    bool isReal = std::is_same_v<OpTy, stablehlo::RealOp>;
    rewriter.replaceOp(op, isReal ? operand : splatOf(b, cast<RankedTensorType>(operand.getType()), 0));
    return success();
  }
};

/// constant(dense_resource) -> constant(dense), whose elements lie in the text and not behind it
struct ResourceConstantPattern : OpRewritePattern<stablehlo::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConstantOp op, PatternRewriter &rewriter) const override {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
    if (!blob)
      return rewriter.notifyMatchFailure(op, "no resource, or one without data");
    ShapedType type = resource.getType();
    ArrayRef<char> data = blob->getData();
    if (type.getElementType().isInteger(1)) { // a byte each, of which the other form has bits
      if (static_cast<int64_t>(data.size()) != type.getNumElements())
        return rewriter.notifyMatchFailure(op, "not a byte for each element");
      SmallVector<bool> values = llvm::map_to_vector(data, [](char byte) { return byte != 0; });
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op.getType(),
                                                         DenseElementsAttr::get(type, values));
      return success();
    }
    bool isSplat = false;
    if (!DenseElementsAttr::isValidRawBuffer(type, data, isSplat) || (isSplat && type.getNumElements() != 1))
      return rewriter.notifyMatchFailure(op, "not as many bytes as the elements have");
    auto value = DenseElementsAttr::getFromRawBuffer(type, data);
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op.getType(), value);
    return success();
  }
};

struct ExpandOperationsPass : impl::ExpandOperationsPassBase<ExpandOperationsPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateBatchNormExpansions(set);
    populateEinsumExpansions(set);
    populateKnownCallExpansions(set);
    populateNarrowTypeExpansions(set);
    populatePlatformCallExpansions(set);
    populateRaggedDotExpansions(set);
    populateStaticFormExpansions(set);
    set.add<PartOfRealPattern<stablehlo::RealOp>, PartOfRealPattern<stablehlo::ImagOp>,
            ResourceConstantPattern>(context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    // Folding is off, so that only expanded ops change: constants and duplicates are left to other passes.
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      return signalPassFailure();
    // Other functions become private, since only main is called from outside: JAX prints the comparators of
    // approx_max_k as if they were public, too.
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.getSymName() != "main" && getOperation().lookupSymbol("main"))
        function.setPrivate();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace cgx
