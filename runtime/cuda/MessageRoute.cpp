//===-- MessageRoute.cpp - Payloads as messages ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/MessageRoute.h"

#include "cuda/DeviceUse.h"
#include "cuda/StreamWait.h"

#include <algorithm>
#include <deque>

namespace cgx {

Result<std::unique_ptr<PayloadRoute>> MessageRoute::make(const Execution &execution,
                                                         const PhaseLayouts &layouts) {
  std::unique_ptr<MessageRoute> route(new MessageRoute(execution, layouts));
  if (Status status = route->allocate(); !status.ok())
    return status;
  return std::unique_ptr<PayloadRoute>(std::move(route));
}

MessageRoute::MessageRoute(const Execution &execution, const PhaseLayouts &layouts)
    : layouts(layouts), self(execution.self()), count(execution.group.size()) {
  const DeviceLink *link = execution.transport.deviceLink();
  for (uint32_t round = 1; round < count; ++round) {
    const uint32_t position = execution.peer(round);
    const bool isReached = link && link->reaches(execution.group.ranks[position]);
    (isReached ? linked : staged).push_back(position);
  }
}

Status MessageRoute::allocate() {
  auto take = [](cuda::Memory &memory, cuda::MemoryKind kind, uint64_t bytes) {
    return statusOf(memory.allocate(kind, std::max<uint64_t>(bytes, 1)));
  };
  const uint64_t wholeBytes = layouts.contributions.bytes(), gatheredBytes = layouts.results.bytes(),
                 slotsBytes = count * layouts.contributions.rowBytes(self);
  for (auto [memory, bytes] :
       {std::pair(&whole, wholeBytes), {&slots, slotsBytes}, {&gathered, gatheredBytes}})
    if (Status status = take(*memory, cuda::MemoryKind::device, bytes); !status.ok())
      return status;
  if (staged.empty())
    return Status();
  if (Status status = take(hostWhole, cuda::MemoryKind::pinned, std::max(wholeBytes, gatheredBytes));
      !status.ok())
    return status;
  for (cuda::Event &event : isFetched = std::vector<cuda::Event>(staged.size()))
    if (Status status = statusOf(event.make()); !status.ok())
      return status;
  return take(hostSlots, cuda::MemoryKind::pinned, slotsBytes);
}

MessageRoute::Row MessageRoute::rowOf(uint32_t phase, uint32_t chunk) const {
  const uint64_t begin = layoutOf(phase).rowBegin(chunk);
  std::byte *host = hostWhole.get<std::byte>();
  return {chunk, (phase == kContribution ? whole : gathered).get<std::byte>() + begin,
          host ? host + begin : nullptr};
}

MessageRoute::Row MessageRoute::outgoing(uint32_t phase, uint32_t position) const {
  return rowOf(phase, phase == kContribution ? position : self);
}

MessageRoute::Row MessageRoute::incoming(uint32_t phase, uint32_t position) const {
  if (phase == kContribution)
    return {self, slot(slots, position), hostSlots.get() ? slot(hostSlots, position) : nullptr};
  return rowOf(phase, position);
}

Status MessageRoute::exchange(Execution &execution, uint32_t phase, cuda::Stream stream) {
  const PayloadLayout &layout = layoutOf(phase);
  if (layout.bytes() == 0) // and nobody reads the memory of others
    return Status();
  const std::byte *fetched = nullptr;
  for (size_t i = 0; i < staged.size(); ++i) {
    // What all get is fetched once.
    if (const Row row = outgoing(phase, staged[i]); row.host != fetched) {
      if (Status status = statusOf(cuda::copy(row.host, row.device, layout.rowBytes(row.chunk), stream));
          !status.ok())
        return status;
      fetched = row.host;
    }
    if (Status status = statusOf(isFetched[i].record(stream)); !status.ok())
      return status;
  }
  // The GPUs exchange theirs while the hosts do.
  if (!linked.empty())
    if (Status status = exchangeLinked(execution, phase, stream); !status.ok())
      return status;
  return staged.empty() ? Status() : exchangeStaged(execution, phase, stream);
}

Status MessageRoute::exchangeLinked(Execution &execution, uint32_t phase, cuda::Stream stream) {
  const PayloadLayout &layout = layoutOf(phase);
  Stopwatch stopwatch(execution.counters.exchange);
  std::vector<DeviceOutgoing> sent;
  std::vector<DeviceIncoming> received;
  for (uint32_t position : linked) {
    const uint32_t rank = execution.group.ranks[position];
    const Row out = outgoing(phase, position), in = incoming(phase, position);
    // All ranks know which rows are empty.
    if (const uint64_t bytes = layout.rowBytes(out.chunk); bytes != 0)
      sent.push_back({rank, out.device, bytes});
    if (const uint64_t bytes = layout.rowBytes(in.chunk); bytes != 0)
      received.push_back({rank, in.device, bytes});
    // As the host counts its messages where they are sent.
    for (size_t i = 0; i < layout.operands(); ++i)
      execution.counters.operands[i].wireBytes += layout.payload(i, out.chunk);
  }
  return sent.empty() && received.empty()
             ? Status()
             : execution.transport.deviceLink()->exchange(sent, received, stream);
}

Status MessageRoute::bringBack(uint32_t phase, uint32_t position, cuda::Stream stream) const {
  const Row row = incoming(phase, position);
  return statusOf(cuda::copy(row.device, row.host, layoutOf(phase).rowBytes(row.chunk), stream));
}

Status MessageRoute::exchangeStaged(Execution &execution, uint32_t phase, cuda::Stream stream) {
  const PayloadLayout &layout = layoutOf(phase);
  std::vector<Traffic> traffic;
  for (size_t i = 0; i < layout.operands(); ++i) {
    Traffic &of = traffic.emplace_back(count);
    for (uint32_t position : staged) {
      const Row out = outgoing(phase, position), in = incoming(phase, position);
      of.send[position] = {out.host + layout.place(i, out.chunk), layout.payload(i, out.chunk)};
      of.receive[position] = {in.host + layout.place(i, in.chunk), layout.payload(i, in.chunk)};
    }
  }
  const std::vector<OperandInfo> &operands = execution.collective.operands;
  if (std::all_of(operands.begin(), operands.end(),
                  [&](const OperandInfo &operand) { return cgx_payload_is_fixed(&operand.codecOf(phase)); }))
    return exchangeRowByRow(execution, traffic, phase, stream);
  // How long messages are the payloads themselves say, once they are on the host.
  if (Status status = waitForEvent(execution.transport, execution.timeout, isFetched.back()); !status.ok())
    return status;
  if (Status status = cgx::exchange(execution, traffic, phase, kAllOperands); !status.ok())
    return status;
  for (uint32_t position : staged)
    if (Status status = bringBack(phase, position, stream); !status.ok())
      return status;
  return Status();
}

/// A row is sent when it is on the host, and on its way to the GPU when it has come: copies and messages of
/// different rows overlap.
Status MessageRoute::exchangeRowByRow(Execution &execution, std::span<const Traffic> traffic, uint32_t phase,
                                      cuda::Stream stream) {
  Stopwatch stopwatch(execution.counters.exchange);
  const Tag tag = execution.tag(phase, kAllOperands);
  std::deque<Exchange> arriving;
  Exchange leaving(execution.transport, execution.timeout);
  for (uint32_t position : staged) {
    std::vector<std::span<std::byte>> pieces;
    for (const Traffic &of : traffic)
      pieces.push_back(of.receive[position]);
    arriving.emplace_back(execution.transport, execution.timeout)
        .receive(execution.group.ranks[position], tag, std::move(pieces));
  }
  for (size_t i = 0; i < staged.size(); ++i) {
    if (Status status = waitForEvent(execution.transport, execution.timeout, isFetched[i]); !status.ok())
      return status;
    std::vector<std::span<const std::byte>> pieces;
    for (size_t operand = 0; operand < traffic.size(); ++operand) {
      pieces.push_back(traffic[operand].send[staged[i]]);
      execution.counters.operands[operand].wireBytes += pieces.back().size();
    }
    leaving.send(execution.group.ranks[staged[i]], tag, std::move(pieces));
  }
  for (size_t i = 0; i < staged.size(); ++i) {
    if (Status status = arriving[i].finish(); !status.ok())
      return status;
    if (Status status = bringBack(phase, staged[i], stream); !status.ok())
      return status;
  }
  return leaving.finish();
}

} // namespace cgx
