//===-- RuntimeBufferization.cpp - Runtime ops on buffers ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// An output is read only by a collective that works in place; everywhere else its old
// contents do not matter, so that no copy is made to preserve them. What the runtime
// sees is contiguous: a slice with gaps is copied on the way in and out.
//
//===----------------------------------------------------------------------------===//
#include "ir/RuntimeOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace cgx::rt {
namespace {

bool readsOutputs(Operation *op) {
  auto run = dyn_cast<RunOp>(op);
  return run && run.isInPlace();
}

/// `buffer`, or a copy of it where it is a slice with gaps: the C interface takes addresses. `reads` says
/// whether the contents matter.
FailureOr<Value> asContiguous(RewriterBase &rewriter, Location loc, Value buffer, bool reads,
                              const BufferizationOptions &options) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (type && memref::isStaticShapeAndContiguousRowMajor(type))
    return buffer;
  auto shaped = cast<ShapedType>(buffer.getType());
  FailureOr<Value> copy = options.createAlloc(
      rewriter, loc, MemRefType::get(shaped.getShape(), shaped.getElementType()), /*dynShape=*/{});
  if (failed(copy) || (reads && failed(options.createMemCpy(rewriter, loc, buffer, *copy))))
    return failure();
  return *copy;
}

template <typename OpTy>
struct RuntimeOpBufferization : DstBufferizableOpInterfaceExternalModel<RuntimeOpBufferization<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand) || readsOutputs(op);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto destinations = cast<DestinationStyleOpInterface>(op);
    SmallVector<Value> buffers, dense;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
      bool reads = !destinations.isDpsInit(&operand) || readsOutputs(op);
      FailureOr<Value> contiguous = asContiguous(rewriter, op->getLoc(), *buffer, reads, options);
      if (failed(contiguous))
        return failure();
      dense.push_back(*contiguous);
    }
    rewriter.setInsertionPoint(op);
    OperationState onBuffers(op->getLoc(), op->getName(), dense, TypeRange());
    onBuffers.propertiesAttr = op->getPropertiesAsAttribute();
    onBuffers.attributes = op->getDiscardableAttrDictionary();
    rewriter.create(onBuffers);
    SmallVector<Value> outputs;
    for (OpOperand &output : destinations.getDpsInitsMutable()) {
      unsigned number = output.getOperandNumber();
      if (dense[number] != buffers[number] &&
          failed(options.createMemCpy(rewriter, op->getLoc(), dense[number], buffers[number])))
        return failure();
      outputs.push_back(buffers[number]);
    }
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
