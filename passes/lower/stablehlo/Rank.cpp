//===-- Rank.cpp - Which rank this is ---------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace cgx {
namespace {

/// A program is spread over replicas (the old pmap) or over partitions (everything else); along the
/// other of the two, every rank has the number 0.
bool isSpreadOverReplicas(Operation *op) {
  auto replicas = op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>("mhlo.num_replicas");
  return replicas && replicas.getInt() > 1;
}

/// partition_id -> rank outs(empty), or 0
template <typename OpTy, bool isReplica> struct NumberPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(this->getTypeConverter()->convertType(op.getType()));
    if (!type.getElementType().isInteger(32) || type.getRank() != 0)
      return rewriter.notifyMatchFailure(op, "not a 32-bit number");
    if (isSpreadOverReplicas(op) != isReplica) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getZeroAttr(type));
      return success();
    }
    Value empty = emptyTensor(rewriter, op.getLoc(), type);
    rewriter.replaceOpWithNewOp<rt::RankOp>(op, type, empty);
    return success();
  }
};

} // namespace

void populateRankPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<NumberPattern<stablehlo::PartitionIdOp, /*isReplica=*/false>,
               NumberPattern<stablehlo::ReplicaIdOp, /*isReplica=*/true>>(converter, patterns.getContext());
}

} // namespace cgx
