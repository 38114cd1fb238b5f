//===-- collective/HierarchicalAllReduce.cpp - Inside of hosts, then between --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made of what is there: the first half of a scatter-reduce-allgather among the ranks of a
// host, an all-reduce of the own chunk among its owners on all hosts, and the second half.
// A mean is one of means.
//
// The three stages draw different random numbers. What a rank hands out on its host last is
// encoded on every host from the same bits with the same random numbers, so that all hosts
// end with the same result.
//
//===----------------------------------------------------------------------===//

#include "collective/AllReduce.h"
#include "collective/AllReduceAlgorithms.h"

namespace cgx {

namespace {

/// Added to the runs of an operand inside of hosts: more than a step has.
constexpr uint64_t kInsideRuns = uint64_t(1) << 40;

/// The ranks of this rank's host, or those at its place on all hosts.
Group hostOf(const Group &group, uint32_t local) {
  uint32_t first = group.position / local * local;
  return {{group.ranks.begin() + first, group.ranks.begin() + first + local}, group.position - first};
}

Group peersOf(const Group &group, uint32_t local) {
  Group peers{{}, group.position / local};
  for (uint32_t position = group.position % local; position < group.size(); position += local)
    peers.ranks.push_back(group.ranks[position]);
  return peers;
}

/// The collective as it runs inside of a host.
CollectiveInfo insideOf(const CollectiveInfo &collective) {
  CollectiveInfo inside = collective;
  inside.schedule = {};
  for (OperandInfo &operand : inside.operands)
    if (!operand.isRaw()) {
      operand.codec = collective.schedule.inside;
      operand.back.reset();
      operand.errorFeedback.reset();
    }
  return inside;
}

std::vector<OperandState> insideStates(std::span<const OperandState> states) {
  std::vector<OperandState> inside(states.size());
  for (size_t i = 0; i < states.size(); ++i)
    inside[i].runs = states[i].runs + kInsideRuns;
  return inside;
}

Execution stageOf(const Execution &execution, const CollectiveInfo &collective, Group group,
                  std::span<OperandState> states, uint32_t encoder, bool hasOneOwner) {
  return {.transport = execution.transport,
          .timeout = execution.timeout,
          .collective = collective,
          .group = std::move(group),
          .seed = execution.seed,
          .step = execution.step,
          .scratch = execution.scratch,
          .states = states,
          .counters = execution.counters,
          .encoder = encoder,
          .hasOneOwner = hasOneOwner};
}

/// The same all-reduce of the chunks that this rank has of the operands.
Status reduceBetween(Execution &execution, const CollectiveInfo &inside, Buffers operands) {
  const cgx_schedule &schedule = execution.collective.schedule;
  uint32_t own = execution.self() % schedule.local;
  CollectiveInfo between = execution.collective;
  between.schedule = {};
  std::vector<OperandBuffers> chunks;
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = inside.operands[i];
    Chunks host = hostChunks(schedule, operand.codec, operand.type, operand.elements);
    between.operands[i].elements = host.size(own);
    between.operands[i].first = host.begin(own);
    std::byte *chunk = operands[i].output + host.beginByte(own);
    chunks.push_back({chunk, chunk});
  }
  Execution stage = stageOf(execution, between, peersOf(execution.group, schedule.local), execution.states,
                            execution.encoder, /*hasOneOwner=*/false);
  return runAllReduceOfGroup(stage, chunks);
}

} // namespace

Status runHierarchicalAllReduce(Execution &execution, Buffers operands) {
  const cgx_schedule &schedule = execution.collective.schedule;
  CollectiveInfo inside = insideOf(execution.collective);
  std::vector<OperandState> states = insideStates(execution.states);
  Group host = hostOf(execution.group, schedule.local);
  bool hasOneOwner = schedule.leaders == CGX_LEADERS_ONE;
  Execution reduction = stageOf(execution, inside, host, states, execution.encoder, hasOneOwner);
  if (Status status = runScatterReduce(reduction, operands); !status.ok())
    return status;
  if (Status status = reduceBetween(execution, inside, operands); !status.ok())
    return status;
  Execution gathering = stageOf(execution, inside, host, states, /*encoder=*/host.position, hasOneOwner);
  return runChunkGather(gathering, operands);
}

} // namespace cgx
