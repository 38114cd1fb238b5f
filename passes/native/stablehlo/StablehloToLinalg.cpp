//===-- StablehloToLinalg.cpp - StableHLO to linalg -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "MissingCode.h"
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_STABLEHLOTOLINALGPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Converts collectives of unsigned integers, and the tensors that they write to: the manifest has the sign.
struct RuntimePattern : ConversionPattern {
  RuntimePattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<rt::CgxRtDialect>(op->getDialect()) &&
        !isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op))
      return failure();
    FailureOr<Operation *> converted = convertOpResultTypes(op, operands, *getTypeConverter(), rewriter);
    if (failed(converted))
      return failure();
    rewriter.replaceOp(op, *converted);
    return success();
  }
};

struct StablehloToLinalgPass : impl::StablehloToLinalgPassBase<StablehloToLinalgPass> {
  void runOnOperation() override {
    eraseMeshes();
    if (failed(checkShapes()))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    SignlessTypeConverter converter;
    RewritePatternSet patterns(context);
    populateElementwisePatterns(converter, patterns);
    populateDataMovementPatterns(converter, patterns);
    populateSlicePatterns(converter, patterns);
    populateReductionPatterns(converter, patterns);
    populateContractionPatterns(converter, patterns);
    populateConvolutionPatterns(converter, patterns);
    populateReduceWindowPatterns(converter, patterns);
    populateSelectAndScatterPatterns(converter, patterns);
    populateGatherScatterPatterns(converter, patterns);
    populateSortPatterns(converter, patterns);
    populateControlFlowPatterns(converter, patterns);
    populateRandomBitsPatterns(converter, patterns);
    populateRankPatterns(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    patterns.add<RuntimePattern>(converter, context);

    ConversionTarget target(*context);
    // StableHLO is left without a verdict, not illegal: the conversion goes on where a
    // pattern is missing, and the report below has them all.
    target.addLegalDialect<arith::ArithDialect, bufferization::BufferizationDialect, linalg::LinalgDialect,
                           math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
    target.addDynamicallyLegalDialect<rt::CgxRtDialect>([&](Operation *op) { return converter.isLegal(op); });
    target.addDynamicallyLegalOp<tensor::EmptyOp, bufferization::AllocTensorOp>(
        [&](Operation *op) { return converter.isLegal(op); });
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
      return converter.isSignatureLegal(function.getFunctionType()) && converter.isLegal(&function.getBody());
    });
    target.addDynamicallyLegalOp<func::ReturnOp>([&](func::ReturnOp op) { return converter.isLegal(op); });
    // An op that is left keeps casts to its types. These are no error by themselves, for the report names the
    // op.
    ConversionConfig config;
    config.buildMaterializations = false;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)) ||
        failed(reportMissingCode(getOperation())) || failed(foldCasts()))
      signalPassFailure();
  }

  /// Checks that shapes are static, as loops and buffers below require.
  LogicalResult checkShapes() {
    auto isSized = [](Type type) {
      auto tensor = dyn_cast<TensorType>(type);
      return !tensor || tensor.hasStaticShape();
    };
    WalkResult walked = getOperation().walk([&](Operation *op) {
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
        if (!isSized(type)) {
          op->emitOpError() << "expected static shapes, got " << type
                            << ": export the step with the shapes that it trains on";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  /// Erases meshes: ranks are numbers by now, and shardings that name a mesh only annotate.
  void eraseMeshes() {
    for (auto mesh : llvm::make_early_inc_range(getOperation().getOps<sdy::MeshOp>()))
      mesh.erase();
  }

  LogicalResult foldCasts() {
    SmallVector<UnrealizedConversionCastOp> casts, left;
    getOperation().walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
    reconcileUnrealizedCasts(casts, &left);
    if (left.empty())
      return success();
    return left.front().emitError("expected no conversion of types to be left, got one from ")
           << left.front().getOperandTypes() << " to " << left.front().getResultTypes();
  }
};

} // namespace
} // namespace cgx
