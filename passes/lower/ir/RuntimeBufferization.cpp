//===-- RuntimeBufferization.cpp - Runtime ops on buffers ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// An output is read only by a collective that works in place; everywhere else its old
// contents do not matter, so that no copy is made to preserve them.
//
//===----------------------------------------------------------------------------===//
#include "ir/RuntimeOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace cgx::rt {
namespace {

template <typename OpTy>
struct RuntimeOpBufferization : DstBufferizableOpInterfaceExternalModel<RuntimeOpBufferization<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    if (!cast<DestinationStyleOpInterface>(op).isDpsInit(&operand))
      return true;
    auto run = dyn_cast<RunOp>(op);
    return run && run.isInPlace();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    OperationState onBuffers(op->getLoc(), op->getName(), buffers, TypeRange());
    onBuffers.propertiesAttr = op->getPropertiesAsAttribute();
    onBuffers.attributes = op->getDiscardableAttrDictionary();
    rewriter.create(onBuffers);
    SmallVector<Value> outputs;
    for (OpOperand &output : cast<DestinationStyleOpInterface>(op).getDpsInitsMutable())
      outputs.push_back(buffers[output.getOperandNumber()]);
    replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
};

} // namespace

void registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CgxRtDialect *) {
    MatmulOp::attachInterface<RuntimeOpBufferization<MatmulOp>>(*context);
    RankOp::attachInterface<RuntimeOpBufferization<RankOp>>(*context);
    RunOp::attachInterface<RuntimeOpBufferization<RunOp>>(*context);
    PayloadOp::attachInterface<RuntimeOpBufferization<PayloadOp>>(*context);
  });
}

} // namespace cgx::rt
