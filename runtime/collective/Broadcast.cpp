//===-- collective/Broadcast.cpp - One rank's tensor for all --------- ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The root encodes once; everybody, itself too, decodes.
//
//===----------------------------------------------------------------------===//

#include "OneExchange.h"
#include "collective/OperandCodec.h"

namespace cgx {

namespace {

class BroadcastTask {
public:
  BroadcastTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers), root(execution.collective.root),
        isRoot(execution.self() == root), payloadBytes(codec.payloadBytes(codec.info().elements)),
        payload(codec.isRaw() ? buffers.output : execution.scratch.take(payloadBytes)) {}

  Traffic traffic() const {
    if (isRoot && !codec.isRaw())
      codec.encode(kContribution, buffers.input, /*first=*/0, codec.info().elements, payload);
    else if (isRoot)
      copyWhole(codec.info(), buffers);
    return stepTraffic(
        execution, kResult, /*step=*/0, [&](uint32_t) { return std::span(payload, payloadBytes); },
        [&](uint32_t, uint32_t) { return std::span(payload, payloadBytes); });
  }

  Status finish() const {
    if (codec.isRaw())
      return Status();
    return codec.decode({payload, payloadBytes}, execution.group.ranks[root], codec.info().elements,
                        buffers.output);
  }

private:
  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  uint32_t root;
  bool isRoot;
  uint64_t payloadBytes;
  std::byte *payload;
};

} // namespace

Status runBroadcast(Execution &execution, Buffers operands) {
  return runInOneExchange<BroadcastTask>(execution, operands);
}

} // namespace cgx
