//===-- StablehloToLinalg.cpp - StableHLO to linalg -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "cgx/Passes/Lower.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
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
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_STABLEHLOTOLINALGPASS
#include "cgx/Passes/Lower.h.inc"

namespace {

struct StablehloToLinalgPass : impl::StablehloToLinalgPassBase<StablehloToLinalgPass> {
  void runOnOperation() override {
    if (failed(reportLeftovers(isNeverConverted)))
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

    ConversionTarget target(*context);
    // StableHLO is left without a verdict, not illegal: the conversion goes on where a
    // pattern is missing, and the report below has them all.
    target
        .addLegalDialect<arith::ArithDialect, bufferization::BufferizationDialect, rt::CgxRtDialect,
                         linalg::LinalgDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
      return converter.isSignatureLegal(function.getFunctionType()) && converter.isLegal(&function.getBody());
    });
    target.addDynamicallyLegalOp<func::ReturnOp>([&](func::ReturnOp op) { return converter.isLegal(op); });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    if (failed(reportLeftovers(isLeftover)))
      signalPassFailure();
  }

  /// Ops without a pattern. Known beforehand, because types that they keep would make the conversion
  /// around them fail with an error that does not name them.
  static bool isNeverConverted(Operation *op) {
    using namespace stablehlo;
    return isa<CustomCallOp, CompositeOp>(op);
  }

  static bool isLeftover(Operation *op) {
    Dialect *dialect = op->getDialect();
    return !dialect || isa<stablehlo::StablehloDialect, chlo::ChloDialect>(dialect) ||
           dialect->getNamespace() == "sdy";
  }

  /// One error for all that native code lacks, so that a user sees it at once.
  LogicalResult reportLeftovers(function_ref<bool(Operation *)> isLeftover) {
    llvm::MapVector<StringRef, SmallVector<Operation *, 1>> leftovers;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isLeftover(op))
        return WalkResult::advance();
      leftovers[op->getName().getStringRef()].push_back(op);
      return WalkResult::skip();
    });
    if (leftovers.empty())
      return success();
    InFlightDiagnostic error = leftovers.front().second.front()->emitError("native code is missing for ");
    llvm::interleaveComma(leftovers, error,
                          [&](auto &entry) { error << entry.first << " (" << entry.second.size() << ")"; });
    for (auto &[name, ops] : leftovers)
      error.attachNote(ops.front()->getLoc())
          << "first " << name << " of type " << ops.front()->getResultTypes();
    return error;
  }
};

} // namespace
} // namespace cgx
