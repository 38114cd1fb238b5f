//===-- collective/Permute.cpp - From one rank to another ------------ ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The group is all ranks, so positions are ranks. A rank that is no target gets zeros. Which pairs take part
// may differ from run to run of a step, which all ranks count alike.
// One that is its own target encodes and decodes: whether a pair crosses a link changes
// no value.
//
//===----------------------------------------------------------------------===//

#include "OneExchange.h"
#include "collective/OperandCodec.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace cgx {

namespace {

class PermuteTask {
public:
  PermuteTask(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), codec(execution, index), buffers(buffers),
        payloadBytes(codec.payloadBytes(codec.info().elements)),
        outgoing(execution.scratch.take(payloadBytes)), incoming(execution.scratch.take(payloadBytes)) {
    for (auto [from, to] : execution.pairs()) {
      isSource = isSource || from == execution.self();
      if (to == execution.self())
        source = from;
    }
  }

  Traffic traffic() const {
    if (isSource)
      codec.encode(kContribution, buffers.input, /*first=*/0, codec.info().elements, outgoing);
    return stepTraffic(
        execution, kContribution, /*step=*/0, [&](uint32_t) { return std::span(outgoing, payloadBytes); },
        [&](uint32_t, uint32_t) { return std::span(incoming, payloadBytes); });
  }

  Status finish() const {
    if (source)
      return codec.decode({*source == execution.self() ? outgoing : incoming, payloadBytes}, *source,
                          codec.info().elements, buffers.output);
    if (codec.info().elements != 0)
      std::memset(buffers.output, 0, codec.info().elements * codec.elementBytes());
    return Status();
  }

private:
  const Execution &execution;
  OperandCodec codec;
  OperandBuffers buffers;
  uint64_t payloadBytes;
  std::byte *outgoing;
  std::byte *incoming;
  bool isSource = false;
  std::optional<uint32_t> source; ///< this rank too
};

} // namespace

Status runPermute(Execution &execution, Buffers operands) {
  const std::vector<OperandInfo> &infos = execution.collective.operands;
  if (std::any_of(infos.begin(), infos.end(),
                  [](const OperandInfo &info) { return info.changes.has_value(); }))
    return runPermuteOfChanges(execution, operands);
  return runInOneExchange<PermuteTask>(execution, operands);
}

} // namespace cgx
