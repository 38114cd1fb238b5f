//===-- collective/Collective.cpp - What all collectives share ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/Collective.h"

#include <cstring>

namespace cgx {

Status exchange(Execution &execution, std::span<const Traffic> traffic, uint32_t phase, uint32_t part,
                size_t firstOperand) {
  Stopwatch stopwatch(execution.counters.exchange);
  Exchange messages(execution.transport, execution.timeout);
  for (uint32_t round = 1; round < execution.group.size(); ++round) {
    uint32_t to = execution.peer(round), from = execution.sender(round);
    std::vector<std::span<const std::byte>> outgoing;
    std::vector<std::span<std::byte>> incoming;
    for (size_t i = 0; i < traffic.size(); ++i) {
      outgoing.push_back(traffic[i].send[to]);
      incoming.push_back(traffic[i].receive[from]);
      execution.counters.operands[firstOperand + i].wireBytes += traffic[i].send[to].size();
    }
    messages.receive(execution.group.ranks[from], execution.tag(phase, part), std::move(incoming));
    messages.send(execution.group.ranks[to], execution.tag(phase, part), std::move(outgoing));
  }
  return messages.finish();
}

void copyWhole(const OperandInfo &operand, const OperandBuffers &buffers) {
  if (buffers.input != buffers.output && operand.elements != 0)
    std::memcpy(buffers.output, buffers.input, operand.elements * cgx_element_bytes(operand.type));
}

Status runCollective(Execution &execution, Buffers operands) {
  ++execution.counters.runs;
  switch (execution.collective.kind) {
  case CollectiveKind::AllReduce:
    return runAllReduce(execution, operands);
  case CollectiveKind::AllGather:
    return runAllGather(execution, operands);
  case CollectiveKind::ReduceScatter:
    return runReduceScatter(execution, operands);
  case CollectiveKind::AllToAll:
    return runAllToAll(execution, operands);
  case CollectiveKind::Broadcast:
    return runBroadcast(execution, operands);
  case CollectiveKind::Permute:
    return runPermute(execution, operands);
  }
  return Status(CGX_INTERNAL, "unknown kind of collective");
}

} // namespace cgx
