//===-- Rank.cpp - The number of the rank ----------------------*- C++ -*-===//
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

/// Returns how many partitions each replica has; null where all ranks are partitions of one replica.
std::optional<int64_t> getPartitionsOfReplicas(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto replicas = module->getAttrOfType<IntegerAttr>("mhlo.num_replicas");
  if (!replicas || replicas.getInt() <= 1)
    return std::nullopt;
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  return partitions ? std::max<int64_t>(partitions.getInt(), 1) : 1;
}

/// The rank is replica * partitions + partition.
/// replica_id -> rank / partitions ; partition_id -> rank % partitions
template <typename OpTy, bool isReplica> struct NumberPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(this->getTypeConverter()->convertType(op.getType()));
    if (!type.getElementType().isInteger(32) || type.getRank() != 0)
      return rewriter.notifyMatchFailure(op, "not a 32-bit number");
    std::optional<int64_t> partitions = getPartitionsOfReplicas(op);
    if (isReplica ? !partitions : partitions == 1) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getZeroAttr(type));
      return success();
    }
    Location loc = op.getLoc();
    Value empty = emptyTensor(rewriter, loc, type);
    Value rank = rt::RankOp::create(rewriter, loc, type, empty).getResult();
    if (partitions.value_or(1) > 1) {
      Value number = scalarOf(rewriter, loc, rank);
      Value count = arith::ConstantIntOp::create(rewriter, loc, *partitions, 32);
      number = isReplica ? arith::DivUIOp::create(rewriter, loc, number, count).getResult()
                         : arith::RemUIOp::create(rewriter, loc, number, count).getResult();
      rank = filledTensor(rewriter, loc, type, number);
    }
    rewriter.replaceOp(op, rank);
    return success();
  }
};

} // namespace

void populateRankPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<NumberPattern<stablehlo::PartitionIdOp, /*isReplica=*/false>,
               NumberPattern<stablehlo::ReplicaIdOp, /*isReplica=*/true>>(converter, patterns.getContext());
}

} // namespace cgx
