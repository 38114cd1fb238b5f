//===-- collective/Collective.cpp - What all collectives share ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/Collective.h"

#include "cgx/kernels/payload.h"
#include "collective/DeviceExecutor.h"

#include <algorithm>
#include <cstring>

namespace cgx {

/// Sends and receives all bytes of the traffic.
static Status exchangeAll(Execution &execution, std::span<const Traffic> traffic, uint32_t phase,
                          uint32_t part, size_t firstOperand) {
  MessageBatch messages(execution.transport, execution.timeout);
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

namespace {

/// Traffic of payloads that vary in size. Who receives one has room for the largest, and learns from its
/// beginning, which comes first in a message of its own, how many bytes follow.
class VaryingTraffic {
public:
  VaryingTraffic(const Execution &execution, std::span<const Traffic> traffic, uint32_t phase,
                 size_t firstOperand)
      : execution(execution), phase(phase), firstOperand(firstOperand),
        traffic(traffic.begin(), traffic.end()), beginnings(traffic.size(), Traffic(execution.group.size())) {
    for (size_t i = 0; i < traffic.size(); ++i)
      for (uint32_t position = 0; position < execution.group.size(); ++position)
        if (position != execution.self())
          cut(i, position);
  }

  /// To be exchanged first.
  const std::vector<Traffic> &first() const { return beginnings; }
  /// Returns the traffic that remains after that. Its receiving ends have the right lengths once `begin` is
  /// OK.
  const std::vector<Traffic> &rest() const { return traffic; }

  Status begin() {
    for (size_t i = 0; i < traffic.size(); ++i)
      for (uint32_t position = 0; position < execution.group.size(); ++position) {
        std::span<std::byte> beginning = beginnings[i].receive[position],
                             &left = traffic[i].receive[position];
        if (beginning.empty() || position == execution.self())
          continue;
        uint64_t stated = statedPayloadBytes(beginning.data()), most = beginning.size() + left.size();
        if (stated < beginning.size() || stated > most)
          return Status::error(CGX_BAD_PAYLOAD, "layer '", operand(i).layer, "', payload of rank ",
                               execution.group.ranks[position], ": expected ", beginning.size(), " to ", most,
                               " bytes, got ", stated);
        left = left.first(stated - beginning.size());
      }
    return Status();
  }

private:
  const OperandInfo &operand(size_t i) const { return execution.collective.operands[firstOperand + i]; }

  void cut(size_t i, uint32_t position) {
    const cgx_codec &codec = operand(i).codecOf(phase);
    if (cgx_payload_is_fixed(&codec))
      return;
    uint64_t bytes = cgx_payload_body_begin(&codec);
    if (std::span<const std::byte> &whole = traffic[i].send[position]; !whole.empty()) {
      beginnings[i].send[position] = whole.first(bytes);
      whole = whole.first(statedPayloadBytes(whole.data())).subspan(bytes);
    }
    if (std::span<std::byte> &whole = traffic[i].receive[position]; !whole.empty()) {
      beginnings[i].receive[position] = whole.first(bytes);
      whole = whole.subspan(bytes);
    }
  }

  const Execution &execution;
  uint32_t phase;
  size_t firstOperand;
  std::vector<Traffic> traffic;
  std::vector<Traffic> beginnings; ///< empty for payloads of one size
};

} // namespace

Status exchange(Execution &execution, std::span<const Traffic> traffic, uint32_t phase, uint32_t part,
                size_t firstOperand) {
  Stopwatch stopwatch(execution.counters.exchange);
  std::span operands = std::span(execution.collective.operands).subspan(firstOperand, traffic.size());
  if (std::all_of(operands.begin(), operands.end(),
                  [&](const OperandInfo &operand) { return cgx_payload_is_fixed(&operand.codecOf(phase)); }))
    return exchangeAll(execution, traffic, phase, part, firstOperand);
  VaryingTraffic varying(execution, traffic, phase, firstOperand);
  if (Status status = exchangeAll(execution, varying.first(), phase, part | kBeginningsPart, firstOperand);
      !status.ok())
    return status;
  if (Status status = varying.begin(); !status.ok())
    return status;
  return exchangeAll(execution, varying.rest(), phase, part, firstOperand);
}

void copyWhole(const OperandInfo &operand, const OperandBuffers &buffers) {
  if (buffers.input != buffers.output && operand.elements != 0)
    std::memcpy(buffers.output, buffers.input, operand.elements * cgx_element_bytes(operand.type));
}

Status runCollective(Execution &execution, Buffers operands) {
  ++execution.counters.runs;
  if (execution.device && execution.device->isNeededFor(execution, operands))
    return execution.device->run(execution, operands);
  if (execution.device)
    if (Status status = execution.device->leave(execution.collective.id); !status.ok())
      return status;
  return runOnHost(execution, operands);
}

Status runOnHost(Execution &execution, Buffers operands) {
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
