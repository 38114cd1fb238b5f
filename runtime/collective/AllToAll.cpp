//===-- collective/AllToAll.cpp - A slice for each rank --------------- ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each slice is encoded on its own, also the one that a rank keeps, so that all carry
// the same error.
//
//===----------------------------------------------------------------------===//

#include "OneExchange.h"
#include "OutgoingSlices.h"
#include "collective/OperandCodec.h"

namespace cgx {

namespace {

class AllToAllTask {
public:
  AllToAllTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers), count(execution.group.size()),
        slices(codec.info().shape, execution.collective.splitDim, count, codec.elementBytes()),
        result(resultShape(), execution.collective.concatDim, count, codec.elementBytes()),
        payloadBytes(codec.payloadBytes(slices.elements())),
        // Never received into the output, which may be the input that is still being sent.
        received(execution.scratch.take(count * payloadBytes)) {}

  Traffic traffic() {
    outgoing = encodeSlices(execution, codec, slices, buffers.input);
    return stepTraffic(
        execution, kContribution, /*step=*/0,
        [&](uint32_t chunk) { return std::span(outgoing + chunk * payloadBytes, payloadBytes); },
        [&](uint32_t from, uint32_t) { return std::span(received + from * payloadBytes, payloadBytes); });
  }

  Status finish() const {
    std::byte *dense = execution.scratch.take(slices.bytes());
    if (payloadBytes != 0) // what this rank keeps, moved before the output overwrites the input
      std::memcpy(received + execution.self() * payloadBytes, outgoing + execution.self() * payloadBytes,
                  payloadBytes);
    for (uint32_t position = 0; position < count; ++position) {
      Status status = codec.decode({received + position * payloadBytes, payloadBytes},
                                   execution.group.ranks[position], slices.elements(), dense);
      if (!status.ok())
        return status;
      result.insert(dense, position, buffers.output);
    }
    return Status();
  }

private:
  std::vector<uint64_t> resultShape() const {
    std::vector<uint64_t> shape = codec.info().shape;
    shape[execution.collective.splitDim] /= count;
    shape[execution.collective.concatDim] *= count;
    return shape;
  }

  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  uint32_t count;
  Slices slices; ///< of the operand
  Slices result;
  uint64_t payloadBytes;
  std::byte *received;
  const std::byte *outgoing = nullptr;
};

} // namespace

Status runAllToAll(Execution &execution, Buffers operands) {
  return runInOneExchange<AllToAllTask>(execution, operands);
}

} // namespace cgx
