//===-- MatmulToBlas.cpp - Hand matrix products to BLAS --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_MATMULTOBLASPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Returns whether a matrix indexed by `map`, of the last two loops, is transposed, that is (column, row);
/// fails if it is neither that nor (row, column). Leading results must be the batch loops in order.
FailureOr<bool> isTransposed(AffineMap map, unsigned row, unsigned column, unsigned batches) {
  if (map.getNumResults() != batches + 2)
    return failure();
  for (unsigned i = 0; i < batches; ++i)
    if (map.getDimPosition(i) != i)
      return failure();
  unsigned first = map.getDimPosition(batches), second = map.getDimPosition(batches + 1);
  if (first == row && second == column)
    return false;
  if (first == column && second == row)
    return true;
  return failure();
}

/// contract(a, b) into fill(0) -> matmul(a, b) into uninitialized memory
struct MatmulOfContractPattern : OpRewritePattern<linalg::ContractOp> {
  MatmulOfContractPattern(MLIRContext *context, int64_t minMultiplications)
      : OpRewritePattern(context), minMultiplications(minMultiplications) {}

  LogicalResult matchAndRewrite(linalg::ContractOp op, PatternRewriter &rewriter) const override {
    Value a = op.getDpsInputs()[0], b = op.getDpsInputs()[1], out = op.getDpsInits()[0];
    auto isF32 = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.hasStaticShape() && type.getElementType().isF32();
    };
    if (!isF32(a) || !isF32(b) || !isF32(out))
      return rewriter.notifyMatchFailure(op, "not a product of static f32 tensors");
    auto fill = out.getDefiningOp<linalg::FillOp>();
    if (!fill || !matchPattern(fill.value(), m_AnyZeroFloat()))
      return rewriter.notifyMatchFailure(op, "accumulates into something else than zeros");
    auto multiplications = llvm::product_of(op.getStaticLoopRanges());
    if (multiplications < minMultiplications)
      return rewriter.notifyMatchFailure(op, "too small");

    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (maps[2].getNumResults() < 2)
      return rewriter.notifyMatchFailure(op, "not a matrix");
    unsigned batches = maps[2].getNumResults() - 2, m = batches, n = batches + 1, k = batches + 2;
    FailureOr<bool> transposeA = isTransposed(maps[0], m, k, batches),
                    transposeB = isTransposed(maps[1], k, n, batches);
    if (batches > 1 || failed(transposeA) || failed(transposeB) ||
        !maps[2].isProjectedPermutation() /* (batch, m, n) */)
      return rewriter.notifyMatchFailure(op, "not a plain product");

    auto type = cast<RankedTensorType>(out.getType());
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<rt::MatmulOp>(op, type, a, b, empty, *transposeA, *transposeB);
    return success();
  }

  int64_t minMultiplications;
};

struct MatmulToBlasPass : impl::MatmulToBlasPassBase<MatmulToBlasPass> {
  using MatmulToBlasPassBase::MatmulToBlasPassBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MatmulOfContractPattern>(&getContext(), minMultiplications);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace cgx
