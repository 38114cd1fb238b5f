//===-- DecomposeCollectives.cpp - All-reduces in explicit form -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace cgx {
#define GEN_PASS_DEF_DECOMPOSECOLLECTIVESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

bool isDecomposed(AllReduceOp op) {
  bool byScatterReduceAllGather =
      op.getAlgorithm() == Algorithm::Auto || op.getAlgorithm() == Algorithm::ScatterReduceAllGather;
  bool isRaw =
      llvm::all_of(op.getCodecs(), [](Attribute codec) { return cast<CodecAttrInterface>(codec).isRaw(); });
  bool hasExplicitForm = llvm::none_of(
      op.getCodecs(), [](Attribute codec) { return cast<CodecAttrInterface>(codec).needsAllReduce(); });
  return byScatterReduceAllGather && !isRaw && !op.getGroups().isTrivial() && hasExplicitForm &&
         op.getGroups().getUniformSize();
}

/// Decomposes one operand by scatter-reduce-allgather, and returns the value of its result.
Value decompose(OpBuilder &builder, AllReduceOp op, unsigned operand) {
  Location location = op.getLoc();
  Value input = op.getInputs()[operand];
  int64_t id = op.getId(), ranks = *op.getGroups().getUniformSize();
  RankedTensorType type = op.getInputType(operand);
  auto whole = PayloadType::get(op.getContext(), type.getShape(), type.getElementType(), op.getCodec(operand),
                                /*chunks=*/ranks, /*slots=*/0);
  LayerAttr layer = op.getLayer(operand);

  DenseI64ArrayAttr origins;
  if (op.getOriginsAttr()) {
    auto [from, position] = getOrigins(op)[operand];
    origins = builder.getDenseI64ArrayAttr({from, position});
  }
  Value contribution =
      CompressOp::create(builder, location, whole, input, Phase::Contribution, id, operand, layer, origins);
  Value received = PayloadAllToAllOp::create(builder, location, whole.getOwnChunk(/*slots=*/ranks),
                                             contribution, id, operand, op.getGroups());
  Value reduced = DecompressAccumulateOp::create(builder, location, whole.getChunkTensorType(), received,
                                                 op.getReduction(), id, operand);
  Value own = CompressOp::create(builder, location, whole.getOwnChunk(/*slots=*/1), reduced, Phase::Result,
                                 id, operand, layer, /*origins=*/nullptr);
  Value gathered = PayloadAllGatherOp::create(builder, location, whole, own, id, operand, op.getGroups());
  return DecompressOp::create(builder, location, type, gathered, id, operand);
}

struct DecomposeCollectives : impl::DecomposeCollectivesPassBase<DecomposeCollectives> {
  void runOnOperation() override {
    getOperation().walk([](AllReduceOp op) {
      if (!isDecomposed(op) || op.isStarted())
        return;
      OpBuilder builder(op);
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        op.getResult(i).replaceAllUsesWith(decompose(builder, op, i));
      op.erase();
    });
  }
};

} // namespace
} // namespace cgx
