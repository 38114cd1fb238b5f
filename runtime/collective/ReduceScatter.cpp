//===-- collective/ReduceScatter.cpp - Reduce, and keep one's slice --- ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first half of an all-reduce over slices of a dimension: each slice is encoded on
// its own, reduced by the rank that keeps it, and not encoded again.
//
//===----------------------------------------------------------------------===//

#include "OneExchange.h"
#include "OutgoingSlices.h"
#include "collective/OperandCodec.h"

namespace cgx {

namespace {

class ReduceScatterTask {
public:
  ReduceScatterTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers), count(execution.group.size()),
        slices(codec.info().shape, execution.collective.dim, count, codec.elementBytes()),
        payloadBytes(codec.payloadBytes(slices.elements())),
        received(execution.scratch.take(count * payloadBytes)) {}

  Traffic traffic() {
    outgoing = encodeSlices(execution, codec, slices, buffers.input);
    return stepTraffic(
        execution, kContribution, /*step=*/0,
        [&](uint32_t chunk) { return std::span(outgoing + chunk * payloadBytes, payloadBytes); },
        [&](uint32_t from, uint32_t) { return std::span(received + from * payloadBytes, payloadBytes); });
  }

  Status finish() const {
    std::vector<const std::byte *> payloads;
    for (uint32_t position = 0; position < count; ++position)
      payloads.push_back((position == execution.self() ? outgoing : received) + position * payloadBytes);
    return codec.reduce(payloads, slices.elements(), buffers.output);
  }

private:
  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  uint32_t count;
  Slices slices; ///< of the operand
  uint64_t payloadBytes;
  std::byte *received;
  const std::byte *outgoing = nullptr;
};

} // namespace

Status runReduceScatter(Execution &execution, Buffers operands) {
  return runInOneExchange<ReduceScatterTask>(execution, operands);
}

} // namespace cgx
