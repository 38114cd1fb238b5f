//===-- TakeRank.cpp - The number of the rank as an argument ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Xla.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_TAKERANKPASS
#include "cgx/Passes/Xla.h.inc"

namespace {

constexpr llvm::StringLiteral kPartitionsAttrName = "mhlo.num_partitions";
constexpr llvm::StringLiteral kReplicasAttrName = "mhlo.num_replicas";

/// rank = replica * partitions + partition
struct TakeRankPass : impl::TakeRankPassBase<TakeRankPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      module.emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    auto type = RankedTensorType::get({}, IntegerType::get(&getContext(), 32, IntegerType::Unsigned));
    if (failed(main.insertArgument(main.getNumArguments(), type, DictionaryAttr(), main.getLoc())))
      return signalPassFailure();
    Value rank = main.getArguments().back();
    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    const int64_t partitions = count(kPartitionsAttrName), replicas = count(kReplicasAttrName);
    Value size = constant(builder, partitions), zero = constant(builder, 0);
    Value replica = zero, partition = rank;
    if (replicas > 1 && partitions > 1) {
      replica = stablehlo::DivOp::create(builder, main.getLoc(), type, rank, size);
      partition = stablehlo::RemOp::create(builder, main.getLoc(), type, rank, size);
    } else if (replicas > 1) {
      replica = rank;
      partition = zero;
    }
    main.walk([&](Operation *op) {
      if (isa<stablehlo::PartitionIdOp>(op))
        replace(op, partition);
      else if (isa<stablehlo::ReplicaIdOp>(op))
        replace(op, replica);
    });
    for (Value unused : {size, zero})
      if (unused.use_empty())
        unused.getDefiningOp()->erase();
    module->removeAttr(kPartitionsAttrName);
    module->removeAttr(kReplicasAttrName);
  }

  int64_t count(StringRef name) {
    auto attribute = getOperation()->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 1;
  }

  static Value constant(OpBuilder &builder, int64_t value) {
    auto type = RankedTensorType::get({}, IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned));
    return stablehlo::ConstantOp::create(
        builder, builder.getUnknownLoc(), type,
        DenseElementsAttr::get(type, APInt(/*numBits=*/32, static_cast<uint64_t>(value))));
  }

  static void replace(Operation *op, Value number) {
    op->replaceAllUsesWith(ValueRange{number});
    op->erase();
  }
};

} // namespace
} // namespace cgx
