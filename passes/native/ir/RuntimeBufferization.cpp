//===-- RuntimeBufferization.cpp - Runtime ops on buffers ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// An output is read only by a collective that works in place; everywhere else its old contents do not matter,
// so that no copy is made to preserve them. Buffers of the runtime are contiguous: a slice with gaps is
// copied on the way in and out.
//
//===----------------------------------------------------------------------------===//
#include "ir/RuntimeOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace cgx::rt {
namespace {

bool readsOutputs(Operation *op) {
  auto run = dyn_cast<RunOp>(op);
  return run && run.isInPlace();
}

/// Returns `buffer`, or a copy of it where it is a slice with gaps: the C interface takes addresses. `reads`
/// says whether the contents matter.
FailureOr<Value> asContiguous(RewriterBase &rewriter, Location loc, Value buffer, bool reads,
                              const BufferizationOptions &options) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (type && isDense(type))
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

/// concatenate ins(a, b) outs(c) -> copy a, subview c ; copy b, subview c
struct ConcatenateBufferization
    : DstBufferizableOpInterfaceExternalModel<ConcatenateBufferization, ConcatenateOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<ConcatenateOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto concatenate = cast<ConcatenateOp>(op);
    const int64_t dim = static_cast<int64_t>(concatenate.getDim());
    FailureOr<Value> out = getBuffer(rewriter, concatenate.getOut(), options, state);
    if (failed(out))
      return failure();
    const int64_t rank = cast<ShapedType>(out->getType()).getRank();
    SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)),
        strides(rank, rewriter.getIndexAttr(1));
    int64_t offset = 0;
    for (Value input : concatenate.getInputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      ArrayRef<int64_t> shape = cast<ShapedType>(input.getType()).getShape();
      offsets[dim] = rewriter.getIndexAttr(offset);
      offset += shape[dim];
      Value part = memref::SubViewOp::create(rewriter, op->getLoc(), *out, offsets,
                                             getAsIndexOpFoldResult(rewriter.getContext(), shape), strides);
      if (failed(options.createMemCpy(rewriter, op->getLoc(), *buffer, part)))
        return failure();
    }
    replaceOpWithBufferizedValues(rewriter, op, *out);
    return success();
  }
};

/// Bufferizes a start. While a collective is pending, the runtime reads its inputs and writes its outputs.
/// Bufferization sees this twice: the start reads its inputs and overwrites the outputs, and the wait reads
/// both again. So nobody else writes to an input before the wait, or sees an output between the two.
struct StartBufferization : BufferizableOpInterface::ExternalModel<StartBufferization, StartOp> {
  static std::optional<unsigned> outputOf(StartOp start, OpOperand &operand) {
    const unsigned number = operand.getOperandNumber(), begin = start.getInputs().size();
    if (number < begin || number >= begin + start.getOutputs().size())
      return std::nullopt;
    return number - begin;
  }

  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    auto start = cast<StartOp>(op);
    return !outputOf(start, operand) || start.isInPlace();
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return outputOf(cast<StartOp>(op), operand).has_value();
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, const AnalysisState &) const {
    auto start = cast<StartOp>(op);
    if (std::optional<unsigned> output = outputOf(start, operand))
      return {{start.getInFlight()[*output], BufferRelation::Equivalent}};
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto start = cast<StartOp>(op);
    SmallVector<Value> buffers, dense;
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get() == start.getCondition())
        continue; // a number
      FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
      bool reads = !outputOf(start, operand) || start.isInPlace();
      FailureOr<Value> contiguous = asContiguous(rewriter, op->getLoc(), *buffer, reads, options);
      if (failed(contiguous))
        return failure();
      dense.push_back(*contiguous);
    }
    rewriter.setInsertionPoint(op);
    size_t inputs = start.getInputs().size();
    auto onBuffers = StartOp::create(rewriter, op->getLoc(), start.getTicket().getType(), TypeRange(),
                                     start.getId(), ArrayRef(dense).take_front(inputs),
                                     ArrayRef(dense).drop_front(inputs), start.getCondition());
    SmallVector<Value> values = {onBuffers.getTicket()};
    values.append(buffers.begin() + inputs, buffers.end());
    replaceOpWithBufferizedValues(rewriter, op, values);
    return success();
  }
};

struct WaitBufferization : DstBufferizableOpInterfaceExternalModel<WaitBufferization, WaitOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return true; }
  /// Returns true for outputs: the runtime has had their addresses since the start.
  bool mustBufferizeInPlace(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<WaitOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto wait = cast<WaitOp>(op);
    SmallVector<Value> buffers;
    for (Value output : wait.getOutputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, output, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    // The start, which comes first, is on buffers by now: those that the runtime uses.
    StartOp start = wait.getStart();
    rewriter.setInsertionPoint(op);
    WaitOp::create(rewriter, op->getLoc(), TypeRange(), start.getTicket(), start.getInputs(),
                   start.getOutputs());
    for (auto [used, buffer] : llvm::zip_equal(start.getOutputs(), buffers))
      if (used != buffer && failed(options.createMemCpy(rewriter, op->getLoc(), used, buffer)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

} // namespace

void registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CgxRtDialect *) {
    ConcatenateOp::attachInterface<ConcatenateBufferization>(*context);
    LibraryOp::attachInterface<RuntimeOpBufferization<LibraryOp>>(*context);
    MatmulOp::attachInterface<RuntimeOpBufferization<MatmulOp>>(*context);
    RankOp::attachInterface<RuntimeOpBufferization<RankOp>>(*context);
    RunOp::attachInterface<RuntimeOpBufferization<RunOp>>(*context);
    StartOp::attachInterface<StartBufferization>(*context);
    WaitOp::attachInterface<WaitBufferization>(*context);
    PayloadOp::attachInterface<RuntimeOpBufferization<PayloadOp>>(*context);
    BindOptimizerStateOp::attachInterface<RuntimeOpBufferization<BindOptimizerStateOp>>(*context);
  });
}

} // namespace cgx::rt
