//===-- BindOptimizerState.cpp - Binds optimizer state to codecs ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/OptimizerState.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace cgx {
#define GEN_PASS_DEF_BINDOPTIMIZERSTATEPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct BindOptimizerState : impl::BindOptimizerStatePassBase<BindOptimizerState> {
  void runOnOperation() override {
    getOperation().walk([](BindOptimizerStateOp given) { given.erase(); }); // codecs may have changed
    SmallVector<CollectiveOpInterface> readers;
    getOperation().walk([&](CollectiveOpInterface op) {
      if (llvm::any_of(op.getCodecs(), reads))
        readers.push_back(op);
    });
    if (readers.empty())
      return;
    auto step = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!step) {
      readers.front().emitError(
          "expected its codec to read arguments of the step @main, found no function of that name");
      return signalPassFailure();
    }
    OptimizerState state(step);
    for (CollectiveOpInterface reader : readers)
      if (failed(bind(reader, state, step)))
        return signalPassFailure();
  }

private:
  static bool reads(Attribute codec) { return cast<CodecAttrInterface>(codec).readsKept(Kept::Parameter); }

  /// Binds the state at the beginning of the step, whose arguments are unchanged until it ends, wherever the
  /// collective is started.
  static LogicalResult bind(CollectiveOpInterface op, const OptimizerState &state, func::FuncOp step) {
    for (auto [i, codec] : llvm::enumerate(op.getCodecs())) {
      if (!reads(codec))
        continue;
      auto emitError = [&, operand = i] { return op.emitOpError() << "operand " << operand << ", "; };
      auto start = dyn_cast<StartOp>(op.getIssuer());
      if (op.getIssuer()->getParentOp() != step || (start && start.getCondition()))
        return emitError() << "layer '" << op.getLayer(i).getName() << "': codec "
                           << op.getCodec(i).getFamily()
                           << " is for collectives that run once a step, outside of loops and branches";
      FailureOr<OptimizerState::Arguments> found =
          state.find(op.getResultTensors()[i], op.getLayer(i), op.getCodec(i), emitError);
      if (failed(found))
        return failure();
      auto builder = OpBuilder::atBlockBegin(&step.getBody().front());
      BindOptimizerStateOp::create(builder, op.getLoc(), (*found)[CGX_KEPT_PARAMETER],
                                   (*found)[CGX_KEPT_FIRST_MOMENT], (*found)[CGX_KEPT_SECOND_MOMENT],
                                   (*found)[CGX_KEPT_LEARNING_RATE], op.getId(), static_cast<int64_t>(i));
    }
    return success();
  }
};

} // namespace
} // namespace cgx
