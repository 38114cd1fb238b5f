//===-- PeerRoute.cpp - Payloads read in the memory of other ranks --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/route/PeerRoute.h"

#include "cuda/stream/DeviceStatus.h"
#include "cuda/stream/KeptMemory.h"
#include "status/Digest.h"
#include "transport/routed/LocalRanks.h"

#include <algorithm>
#include <functional>
#include <unistd.h>

namespace cgx {

/// Phases and parts of messages that no algorithm uses.
static constexpr uint32_t kBootstrap = 0x7f00;
static constexpr uint32_t kHosts = 0, kHellos = 1, kVerdicts = 2, kRecorded = 3, kRead = 4;

/// Returns a key that is equal for the threads of a process, and different in any other.
static uint64_t processKey() {
  static const uint64_t begun = uint64_t(Clock::now().time_since_epoch().count());
  return digestOf(concat(hostKey(), "/", begun, "/", getpid()));
}

/// Lets each rank of the group send all others a value of one size; `all` is indexed by position.
template <typename T>
static Status tellAll(const Execution &execution, uint32_t phase, uint32_t part, std::vector<T> &all) {
  MessageBatch exchange(execution.transport, execution.timeout);
  for (uint32_t round = 1; round < execution.group.size(); ++round) {
    const uint32_t to = execution.peer(round), from = execution.sender(round);
    exchange.receive(execution.group.ranks[from], execution.tag(phase, part),
                     {std::as_writable_bytes(std::span(&all[from], 1))});
    exchange.send(execution.group.ranks[to], execution.tag(phase, part),
                  {std::as_bytes(std::span(&all[execution.self()], 1))});
  }
  return exchange.finish();
}

cuda::Outcome PeerRoute::share(Hello &hello) {
  hello.process = processKey();
  int gpu = 0;
  if (cuda::Outcome outcome = cuda::currentDevice(gpu); !outcome.ok())
    return outcome;
  hello.gpu = gpu;
  // Space for the result of any chunk follows the contributions.
  const uint64_t bytes = schedule.contributions.bytes() + schedule.results.longestRow();
  if (cuda::Outcome outcome = cuda::allocateShared(block, std::max<uint64_t>(bytes, 1)); !outcome.ok())
    return outcome;
  hello.address = reinterpret_cast<uintptr_t>(block.get());
  for (uint32_t phase : {kContribution, kResult}) {
    if (cuda::Outcome outcome = events[phase].makeShared(); !outcome.ok())
      return outcome;
    hello.eventAddresses[phase] = reinterpret_cast<uintptr_t>(events[phase].get());
    if (cuda::Outcome outcome = events[phase].handle(hello.events[phase]); !outcome.ok())
      return outcome;
  }
  return cuda::handleOf(block, hello.memory);
}

cuda::Outcome PeerRoute::see(const Hello &hello, const Hello &own, Peer &peer) const {
  if (!hello.canShare)
    return {"it shares no memory with this rank"};
  if (hello.process == own.process) {
    peer.memory = reinterpret_cast<std::byte *>(hello.address);
    for (uint32_t phase : {kContribution, kResult})
      peer.events[phase] = reinterpret_cast<CUevent_st *>(hello.eventAddresses[phase]);
    return hello.gpu == own.gpu ? cuda::Outcome{} : cuda::enablePeer(hello.gpu);
  }
  if (cuda::Outcome outcome = peer.importedMemory.open(hello.memory); !outcome.ok())
    return outcome;
  peer.memory = static_cast<std::byte *>(peer.importedMemory.get());
  for (uint32_t phase : {kContribution, kResult}) {
    if (cuda::Outcome outcome = peer.importedEvents[phase].import(hello.events[phase]); !outcome.ok())
      return outcome;
    peer.events[phase] = peer.importedEvents[phase].get();
  }
  return {};
}

Result<std::unique_ptr<PayloadRoute>> PeerRoute::make(const Execution &execution,
                                                      const DeviceSchedule &schedule) {
  // Shared memory is never released, so it is not allocated for ranks on several hosts.
  std::vector<uint64_t> hosts(execution.group.size(), hostKey());
  if (Status status = tellAll(execution, kBootstrap, kHosts, hosts); !status.ok())
    return status;
  if (std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>()) != hosts.end())
    return std::unique_ptr<PayloadRoute>();
  std::unique_ptr<PeerRoute> route(new PeerRoute(execution, schedule));
  std::vector<Hello> hellos(execution.group.size());
  Hello &own = hellos[execution.self()];
  // If sharing fails there is another route, so that is no error, provided all ranks know.
  own.canShare = route->share(own).ok();
  if (Status status = tellAll(execution, kBootstrap, kHellos, hellos); !status.ok())
    return status;
  std::vector<uint64_t> verdicts(hellos.size());
  bool seesAll = true;
  for (size_t position = 0; position < hellos.size() && seesAll; ++position)
    seesAll = route->see(hellos[position], own, route->peers[position]).ok();
  verdicts[execution.self()] = seesAll;
  if (Status status = tellAll(execution, kBootstrap, kVerdicts, verdicts); !status.ok())
    return status;
  if (std::find(verdicts.begin(), verdicts.end(), 0u) != verdicts.end())
    return std::unique_ptr<PayloadRoute>();
  route->isReadByProcesses = std::any_of(hellos.begin(), hellos.end(),
                                         [&](const Hello &hello) { return hello.process != own.process; });
  return std::unique_ptr<PayloadRoute>(std::move(route));
}

PeerRoute::~PeerRoute() {
  keepUntilExit(std::move(block));
  keepUntilExit(std::move(events));
}

Status PeerRoute::meet(Execution &execution, uint32_t phase, const Step &step, cuda::Stream stream) {
  Stopwatch stopwatch(execution.counters.exchange);
  if (Status status = statusOf(events[phase].record(stream)); !status.ok())
    return status;
  const Tag tag = execution.tag(phase, kBootstrap + kRecorded);
  std::vector<uint64_t> steps(peers.size(), execution.step);
  MessageBatch exchange(execution.transport, execution.timeout);
  for (const Transfer &transfer : step.receives)
    exchange.receive(execution.group.ranks[transfer.from], tag,
                     {std::as_writable_bytes(std::span(&steps[transfer.from], 1))});
  for (const Transfer &transfer : step.sends)
    exchange.send(execution.group.ranks[transfer.to], tag, {std::as_bytes(std::span(&steps[self], 1))});
  if (Status status = exchange.finish(); !status.ok())
    return status;
  for (const Transfer &transfer : step.receives)
    if (Status status = statusOf(cuda::waitOn(stream, peers[transfer.from].events[phase])); !status.ok())
      return status;
  return Status();
}

/// Counts the bytes as the host does for its messages.
static void countSent(Execution &execution, const PayloadLayout &layout, const Step &step) {
  forEachChunk(step.sends, [&](const Transfer &, uint32_t chunk) {
    for (size_t i = 0; i < layout.operands(); ++i)
      execution.counters.operands[i].wireBytes += layout.payload(i, chunk);
  });
}

Status PeerRoute::scatter(Execution &execution, uint32_t round, cuda::Stream stream) {
  countSent(execution, schedule.contributions, schedule.steps.contributions[round]);
  return meet(execution, kContribution, schedule.steps.contributions[round], stream);
}

Status PeerRoute::gather(Execution &execution, cuda::Stream stream) {
  for (const Step &step : schedule.steps.results)
    countSent(execution, schedule.results, step);
  return meet(execution, kResult, everybody, stream);
}

Status PeerRoute::finish(Execution &execution) {
  if (!isReadByProcesses)
    return Status();
  std::vector<uint64_t> steps(peers.size(), execution.step);
  return tellAll(execution, kResult, kBootstrap + kRead, steps);
}

} // namespace cgx
