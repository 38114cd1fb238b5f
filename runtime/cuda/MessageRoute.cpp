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

#include <deque>

namespace cgx {

Result<std::unique_ptr<PayloadRoute>> MessageRoute::make(const Execution &execution,
                                                         RunningOperands operands) {
  std::unique_ptr<MessageRoute> route(new MessageRoute(execution, operands));
  if (Status status = route->allocate(); !status.ok())
    return status;
  return std::unique_ptr<PayloadRoute>(std::move(route));
}

MessageRoute::MessageRoute(const Execution &execution, RunningOperands operands)
    : layout(operands), self(execution.self()), count(execution.group.size()),
      hasOneSize(std::all_of(operands.begin(), operands.end(), [](const AllReduceOperand &operand) {
        return cgx_payload_is_fixed(&operand.codec.parameters());
      })) {
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
  const uint64_t slotsBytes = count * layout.rowBytes(self);
  for (auto [memory, bytes] :
       {std::pair(&whole, layout.bytes()), {&slots, slotsBytes}, {&gathered, layout.bytes()}})
    if (Status status = take(*memory, cuda::MemoryKind::device, bytes); !status.ok())
      return status;
  if (staged.empty())
    return Status();
  if (Status status = take(hostWhole, cuda::MemoryKind::pinned, layout.bytes()); !status.ok())
    return status;
  for (cuda::Event &event : isFetched = std::vector<cuda::Event>(staged.size()))
    if (Status status = statusOf(event.make()); !status.ok())
      return status;
  return take(hostSlots, cuda::MemoryKind::pinned, slotsBytes);
}

MessageRoute::Row MessageRoute::rowOf(const cuda::Memory &device, uint32_t chunk) const {
  std::byte *host = hostWhole.get<std::byte>();
  return {chunk, device.get<std::byte>() + layout.rowBegin(chunk),
          host ? host + layout.rowBegin(chunk) : nullptr};
}

MessageRoute::Row MessageRoute::outgoing(uint32_t phase, uint32_t position) const {
  return phase == kContribution ? rowOf(whole, position) : rowOf(gathered, self);
}

MessageRoute::Row MessageRoute::incoming(uint32_t phase, uint32_t position) const {
  if (phase == kContribution)
    return {self, slot(slots, position), hostSlots.get() ? slot(hostSlots, position) : nullptr};
  return rowOf(gathered, position);
}

Status MessageRoute::exchange(Execution &execution, RunningOperands operands, uint32_t phase,
                              cuda::Stream stream) {
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
    if (Status status = exchangeLinked(execution, operands, phase, stream); !status.ok())
      return status;
  return staged.empty() ? Status() : exchangeStaged(execution, operands, phase, stream);
}

Status MessageRoute::exchangeLinked(Execution &execution, RunningOperands operands, uint32_t phase,
                                    cuda::Stream stream) {
  Stopwatch stopwatch(execution.counters.exchange);
  std::vector<DeviceOutgoing> sent;
  std::vector<DeviceIncoming> received;
  for (uint32_t position : linked) {
    const uint32_t rank = execution.group.ranks[position];
    const Row out = outgoing(phase, position), in = incoming(phase, position);
    sent.push_back({rank, out.device, layout.rowBytes(out.chunk)});
    received.push_back({rank, in.device, layout.rowBytes(in.chunk)});
    // As the host counts its messages where they are sent.
    for (size_t i = 0; i < operands.size(); ++i)
      execution.counters.operands[i].wireBytes += operands[i].chunks.payload(out.chunk);
  }
  return execution.transport.deviceLink()->exchange(sent, received, stream);
}

Status MessageRoute::bringBack(uint32_t phase, uint32_t position, cuda::Stream stream) const {
  const Row row = incoming(phase, position);
  return statusOf(cuda::copy(row.device, row.host, layout.rowBytes(row.chunk), stream));
}

Status MessageRoute::exchangeStaged(Execution &execution, RunningOperands operands, uint32_t phase,
                                    cuda::Stream stream) {
  std::vector<Traffic> traffic;
  for (size_t i = 0; i < operands.size(); ++i) {
    Traffic &of = traffic.emplace_back(count);
    for (uint32_t position : staged) {
      const Row out = outgoing(phase, position), in = incoming(phase, position);
      of.send[position] = {out.host + layout.place(i, out.chunk), operands[i].chunks.payload(out.chunk)};
      of.receive[position] = {in.host + layout.place(i, in.chunk), operands[i].chunks.payload(in.chunk)};
    }
  }
  if (hasOneSize)
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
