//===-- collective/Collective.h - Collectives as algorithms see them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor of the host: by the schedule (schedule/Schedule.h) of a collective, algorithms encode,
// exchange and decode. They know no transport (they fill an MessageBatch) and no codec (OperandCodec turns
// elements into payloads).
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_COLLECTIVE_H
#define CGX_RUNTIME_COLLECTIVE_COLLECTIVE_H

#include "collective/Scratch.h"
#include "manifest/Manifest.h"
#include "schedule/Chunks.h"
#include "schedule/Schedule.h"
#include "state/OperandState.h"
#include "telemetry/Telemetry.h"
#include "transport/MessageBatch.h"

#include <span>

namespace cgx {

class DeviceExecutor;

/// Where an operand is and where its result goes. They are the same or do not overlap.
struct OperandBuffers {
  const std::byte *input = nullptr;
  std::byte *output = nullptr;
};

/// The phases of a collective, in random numbers and tags.
inline constexpr uint32_t kContribution = 0; ///< what a rank gives
inline constexpr uint32_t kResult = 1;       ///< what the owner of a chunk makes of it

/// In a run of a step: not all pairs of a permutation need take part in all.
inline cgx_pattern patternOf(const CollectiveInfo &info, uint32_t ranks, uint64_t run = 0) {
  const cgx_collective collective = info.inGroupOf(ranks, run);
  return cgx_pattern_of(&collective);
}

/// One execution of one collective on one rank.
struct Execution {
  Transport &transport;
  std::chrono::milliseconds timeout;
  const CollectiveInfo &collective;
  Group group;
  uint64_t seed;
  uint64_t step;
  Scratch &scratch;
  std::span<OperandState> states; ///< one for each operand
  CollectiveCounters &counters;
  /// In random numbers: the place in the group, so that groups of which each has the same data (replicas
  /// along another axis of a mesh) encode it to the same bytes.
  uint32_t encoder = group.position;
  /// The pattern of messages, except in a hierarchical all-reduce, whose stages have patterns of their own.
  cgx_pattern pattern = patternOf(collective, group.size(), run());
  /// The gather whose payloads this one decodes again, and what is kept of it.
  const CollectiveInfo *decoded = nullptr;
  std::span<OperandState> decodedStates = {};
  DeviceExecutor *device = nullptr; ///< where buffers may lie on a GPU
  uint64_t epoch = 0;               ///< in which codecs of the collective last changed

  uint32_t self() const { return group.position; }
  /// How often the collective has run in this step: on all ranks alike.
  uint64_t run() const { return states.empty() ? 0 : states[0].runs; }
  /// Returns the pairs of a permutation that take part in this run.
  std::span<const cgx_pair> pairs() const { return {pattern.pairs, pattern.pair_count}; }
  /// Returns the number that the sum of all contributions is divided by.
  uint32_t divisor() const { return collective.reduction == ReduceKind::Mean ? group.size() : 1; }
  /// The position to turn to in round 1 to group.size() - 1.
  uint32_t peer(uint32_t round) const { return cgx_position_after(self(), round, group.size()); }
  /// The position that turns to this one in that round.
  uint32_t sender(uint32_t round) const { return cgx_position_before(self(), round, group.size()); }
  Tag tag(uint32_t phase, uint32_t part) const {
    return {.step = step, .collective = collective.id, .phase = uint16_t(phase), .part = uint16_t(part)};
  }
};

/// `part` of messages that hold all operands of a collective; those of one operand
/// have its index + 1.
inline constexpr uint32_t kAllOperands = 0;
/// Set in the part of messages that hold the beginnings of payloads which vary in size.
inline constexpr uint32_t kBeginningsPart = 0x8000;

/// The bytes of one operand that go to and come from each position of the group. What
/// this rank has for itself is not among them: its own entries are ignored.
struct Traffic {
  explicit Traffic(uint32_t positions) : send(positions), receive(positions) {}

  std::vector<std::span<const std::byte>> send;
  std::vector<std::span<std::byte>> receive;
};

/// The traffic of a step of the schedule: `sent(chunk)` is what this rank sends of a chunk, and
/// `received(from, chunk)` where it wants what another has sent of one.
template <typename Sent, typename Received>
Traffic stepTraffic(const Execution &execution, uint32_t phase, uint32_t step, Sent sent, Received received) {
  Traffic traffic(execution.group.size());
  forEachTransfer(execution.pattern, phase, step, execution.self(), /*sends=*/true,
                  [&](const Transfer &transfer) { traffic.send[transfer.to] = sent(transfer.chunk); });
  forEachTransfer(execution.pattern, phase, step, execution.self(), /*sends=*/false,
                  [&](const Transfer &transfer) {
                    traffic.receive[transfer.from] = received(transfer.from, transfer.chunk);
                  });
  return traffic;
}

/// Sends and receives, all operands in one message per pair of ranks, and counts.
/// `firstOperand` is the operand that traffic[0] belongs to. Of a payload that varies in size, `send` and
/// `receive` hold as many bytes as it can have; what it has is sent and counted.
Status exchange(Execution &execution, std::span<const Traffic> traffic, uint32_t phase, uint32_t part,
                size_t firstOperand = 0);

/// The result of a collective of one rank that changes no shape.
void copyWhole(const OperandInfo &operand, const OperandBuffers &buffers);

using Buffers = std::span<const OperandBuffers>;

Status runAllReduce(Execution &execution, Buffers operands);
Status runAllGather(Execution &execution, Buffers operands);
Status runReduceScatter(Execution &execution, Buffers operands);
Status runAllToAll(Execution &execution, Buffers operands);
Status runBroadcast(Execution &execution, Buffers operands);
Status runPermute(Execution &execution, Buffers operands);
/// A permutation with operands of which ranks send how they changed (Changes).
Status runPermuteOfChanges(Execution &execution, Buffers operands);

/// Runs whatever kind the collective is, wherever its buffers lie.
Status runCollective(Execution &execution, Buffers operands);

/// Runs the collective on buffers of the host.
Status runOnHost(Execution &execution, Buffers operands);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_COLLECTIVE_H
