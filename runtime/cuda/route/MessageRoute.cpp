//===-- MessageRoute.cpp - Payloads as messages ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/route/MessageRoute.h"

#include "cuda/stream/DeviceStatus.h"
#include "cuda/stream/StreamWait.h"

#include <algorithm>
#include <deque>

namespace cgx {

Result<std::unique_ptr<PayloadRoute>> MessageRoute::make(const Execution &execution,
                                                         const DeviceSchedule &schedule) {
  std::unique_ptr<MessageRoute> route(new MessageRoute(execution, schedule));
  if (Status status = route->allocate(execution); !status.ok())
    return status;
  for (const Step &step : schedule.steps.contributions)
    route->scattering.push_back(route->turnOf(execution, kContribution, step));
  for (const Step &step : schedule.steps.results)
    route->gathering.push_back(route->turnOf(execution, kResult, step));
  return std::unique_ptr<PayloadRoute>(std::move(route));
}

MessageRoute::MessageRoute(const Execution &execution, const DeviceSchedule &schedule)
    : schedule(schedule), self(execution.self()) {
  const std::vector<OperandInfo> &operands = execution.collective.operands;
  for (uint32_t phase : {kContribution, kResult})
    areFixed[phase] = std::all_of(operands.begin(), operands.end(), [&](const OperandInfo &operand) {
      return cgx_payload_is_fixed(&operand.codecOf(phase));
    });
  for (const Step &step : schedule.steps.contributions)
    forEachChunk(step.receives, [&](const Transfer &transfer, uint32_t chunk) {
      slotBegins[{transfer.from, chunk}] = slotsBytes;
      slotsBytes += schedule.contributions.rowBytes(chunk);
    });
}

MessageRoute::Way MessageRoute::wayTo(const Execution &execution, uint32_t phase, uint32_t position) const {
  const Transport &transport = execution.transport;
  const uint32_t rank = execution.group.ranks[position];
  if (const DeviceLink *link = transport.deviceLink(); link && link->reaches(rank))
    return Way::linked;
  return areFixed[phase] && transport.takesDeviceMemory(rank) ? Way::direct : Way::staged;
}

Status MessageRoute::allocate(const Execution &execution) {
  bool isStaged = false;
  for (uint32_t position = 0; position < execution.group.size(); ++position)
    for (uint32_t phase : {kContribution, kResult}) {
      const Way way = position == self ? Way::linked : wayTo(execution, phase, position);
      isAllLinked = isAllLinked && way == Way::linked;
      isStaged = isStaged || way == Way::staged;
    }
  auto take = [](cuda::Memory &memory, cuda::MemoryKind kind, uint64_t bytes) {
    return statusOf(memory.allocate(kind, std::max<uint64_t>(bytes, 1)));
  };
  const uint64_t wholeBytes = schedule.contributions.bytes(), gatheredBytes = schedule.results.bytes();
  for (auto [memory, bytes] :
       {std::pair(&whole, wholeBytes), {&slots, slotsBytes}, {&gathered, gatheredBytes}})
    if (Status status = take(*memory, cuda::MemoryKind::device, bytes); !status.ok())
      return status;
  if (isAllLinked)
    return Status();
  isOnHost.resize(execution.group.size());
  isFetched = std::vector<cuda::Event>(execution.group.size());
  for (cuda::Event &event : isFetched)
    if (Status status = statusOf(event.make()); !status.ok())
      return status;
  if (Status status = statusOf(isFree.make()); !status.ok() || !isStaged)
    return status;
  if (Status status = take(hostWhole, cuda::MemoryKind::pinned, std::max(wholeBytes, gatheredBytes));
      !status.ok())
    return status;
  return take(hostSlots, cuda::MemoryKind::pinned, slotsBytes);
}

MessageRoute::Turn MessageRoute::turnOf(const Execution &execution, uint32_t phase, const Step &step) const {
  Turn turn;
  const auto add = [&](std::vector<Row> Rows::*direction, uint32_t position, uint32_t chunk,
                       const cuda::Memory &memory, const cuda::Memory &host, uint64_t begin) {
    const Way way = wayTo(execution, phase, position);
    std::byte *device = memory.get<std::byte>() + begin;
    Rows &rows = way == Way::linked ? turn.linked : turn.hosted;
    (rows.*direction)
        .push_back({position, chunk, device, way == Way::staged ? host.get<std::byte>() + begin : device});
  };
  const bool isResult = phase == kResult;
  forEachChunk(step.sends, [&](const Transfer &transfer, uint32_t chunk) {
    add(&Rows::outgoing, transfer.to, chunk, isResult ? gathered : whole, hostWhole,
        layoutOf(phase).rowBegin(chunk));
  });
  forEachChunk(step.receives, [&](const Transfer &transfer, uint32_t chunk) {
    if (isResult)
      add(&Rows::incoming, transfer.from, chunk, gathered, hostWhole, layoutOf(phase).rowBegin(chunk));
    else
      add(&Rows::incoming, transfer.from, chunk, slots, hostSlots, slotBegins.at({transfer.from, chunk}));
  });
  return turn;
}

Status MessageRoute::scatter(Execution &execution, uint32_t round, cuda::Stream stream) {
  if (round == 0)
    isOnHost.assign(isOnHost.size(), false);
  return run(execution, kContribution, scattering[round], stream);
}

Status MessageRoute::gather(Execution &execution, cuda::Stream stream) {
  isOnHost.assign(isOnHost.size(), false);
  for (const Turn &turn : gathering)
    if (Status status = run(execution, kResult, turn, stream); !status.ok())
      return status;
  return Status();
}

Status MessageRoute::run(Execution &execution, uint32_t phase, const Turn &turn, cuda::Stream stream) {
  if (layoutOf(phase).bytes() == 0) // nothing to send; no rank reads memory of others on this route
    return Status();
  if (Status status = fetch(phase, turn.hosted, stream); !status.ok())
    return status;
  // The GPUs exchange their rows while the hosts exchange theirs.
  if (Status status = exchangeLinked(execution, phase, turn.linked, stream); !status.ok())
    return status;
  return exchangeHosted(execution, phase, turn.hosted, stream);
}

Status MessageRoute::exchangeLinked(Execution &execution, uint32_t phase, const Rows &rows,
                                    cuda::Stream stream) const {
  const PayloadLayout &layout = layoutOf(phase);
  Stopwatch stopwatch(execution.counters.exchange);
  std::vector<DeviceOutgoing> sent;
  std::vector<DeviceIncoming> received;
  for (const Row &row : rows.outgoing) {
    // All ranks know which rows are empty.
    if (const uint64_t bytes = layout.rowBytes(row.chunk); bytes != 0)
      sent.push_back({execution.group.ranks[row.position], row.device, bytes});
    // Bytes are counted where rows are sent, as on the host.
    for (size_t i = 0; i < layout.operands(); ++i)
      execution.counters.operands[i].wireBytes += layout.payload(i, row.chunk);
  }
  for (const Row &row : rows.incoming)
    if (const uint64_t bytes = layout.rowBytes(row.chunk); bytes != 0)
      received.push_back({execution.group.ranks[row.position], row.device, bytes});
  return sent.empty() && received.empty()
             ? Status()
             : execution.transport.deviceLink()->exchange(sent, received, stream);
}

/// Copies rows that leave from the host to it. A row for several ranks is copied once, and one that was
/// received over the host is already there.
Status MessageRoute::fetch(uint32_t phase, const Rows &rows, cuda::Stream stream) {
  for (const Row &row : rows.outgoing) {
    if (isOnHost[row.chunk] && !row.isDirect())
      continue;
    if (!row.isDirect()) {
      if (Status status =
              statusOf(cuda::copy(row.host, row.device, layoutOf(phase).rowBytes(row.chunk), stream));
          !status.ok())
        return status;
      isOnHost[row.chunk] = true;
    }
    if (Status status = statusOf(isFetched[row.chunk].record(stream)); !status.ok())
      return status;
  }
  return rows.incoming.empty() ? Status() : statusOf(isFree.record(stream));
}

Status MessageRoute::bringBack(uint32_t phase, const Row &row, cuda::Stream stream) {
  if (row.isDirect())
    return Status();
  isOnHost[row.chunk] = isOnHost[row.chunk] || phase == kResult;
  return statusOf(cuda::copy(row.device, row.host, layoutOf(phase).rowBytes(row.chunk), stream));
}

Status MessageRoute::exchangeHosted(Execution &execution, uint32_t phase, const Rows &rows,
                                    cuda::Stream stream) {
  if (areFixed[phase])
    return exchangeRowByRow(execution, phase, rows, stream);
  // The lengths of messages are in the payloads themselves, once these are on the host.
  const PayloadLayout &layout = layoutOf(phase);
  std::vector<Traffic> traffic;
  for (size_t i = 0; i < layout.operands(); ++i) {
    Traffic &of = traffic.emplace_back(execution.group.size());
    for (const Row &row : rows.outgoing)
      of.send[row.position] = {row.host + layout.place(i, row.chunk), layout.payload(i, row.chunk)};
    for (const Row &row : rows.incoming)
      of.receive[row.position] = {row.host + layout.place(i, row.chunk), layout.payload(i, row.chunk)};
  }
  for (const Row &row : rows.outgoing)
    if (Status status = waitForEvent(execution.transport, execution.timeout, isFetched[row.chunk]);
        !status.ok())
      return status;
  if (Status status = cgx::exchange(execution, traffic, phase, kAllOperands); !status.ok())
    return status;
  for (const Row &row : rows.incoming)
    if (Status status = bringBack(phase, row, stream); !status.ok())
      return status;
  return Status();
}

/// Returns the payloads of a row, one of each operand.
template <typename Byte>
static std::vector<std::span<Byte>> piecesOf(const PayloadLayout &layout, uint32_t chunk, Byte *row) {
  std::vector<std::span<Byte>> pieces;
  for (size_t i = 0; i < layout.operands(); ++i)
    pieces.emplace_back(row + layout.place(i, chunk), layout.payload(i, chunk));
  return pieces;
}

/// Sends each row when it is on the host, and copies each to the GPU when it has arrived, so that copies and
/// messages of different rows overlap.
Status MessageRoute::exchangeRowByRow(Execution &execution, uint32_t phase, const Rows &rows,
                                      cuda::Stream stream) {
  const PayloadLayout &layout = layoutOf(phase);
  Stopwatch stopwatch(execution.counters.exchange);
  const Tag tag = execution.tag(phase, kAllOperands);
  // Kernels may still read the last rows in the memory where the next are received.
  if (std::any_of(rows.incoming.begin(), rows.incoming.end(), [](const Row &row) { return row.isDirect(); }))
    if (Status status = waitForEvent(execution.transport, execution.timeout, isFree); !status.ok())
      return status;
  std::deque<MessageBatch> arriving;
  MessageBatch leaving(execution.transport, execution.timeout);
  for (const Row &row : rows.incoming)
    arriving.emplace_back(execution.transport, execution.timeout)
        .receive(execution.group.ranks[row.position], tag, piecesOf(layout, row.chunk, row.host),
                 row.isDirect());
  for (const Row &row : rows.outgoing) {
    if (Status status = waitForEvent(execution.transport, execution.timeout, isFetched[row.chunk]);
        !status.ok())
      return status;
    leaving.send(execution.group.ranks[row.position], tag,
                 piecesOf(layout, row.chunk, static_cast<const std::byte *>(row.host)), row.isDirect());
    for (size_t i = 0; i < layout.operands(); ++i)
      execution.counters.operands[i].wireBytes += layout.payload(i, row.chunk);
  }
  for (size_t i = 0; i < arriving.size(); ++i) {
    if (Status status = arriving[i].finish(); !status.ok())
      return status;
    if (Status status = bringBack(phase, rows.incoming[i], stream); !status.ok())
      return status;
  }
  return leaving.finish();
}

} // namespace cgx
