//===-- collective/HostStages.cpp - An all-reduce of hosts, in three stages -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/HostStages.h"

namespace cgx {

namespace {

/// Added to the runs of an operand inside of hosts: more than a step has.
constexpr uint64_t kInsideRuns = uint64_t(1) << 40;

Execution stageOf(const Execution &execution, const CollectiveInfo &collective, const Group &group,
                  std::span<OperandState> states, uint32_t encoder, const cgx_pattern &pattern) {
  return {.transport = execution.transport,
          .timeout = execution.timeout,
          .collective = collective,
          .group = group,
          .seed = execution.seed,
          .step = execution.step,
          .scratch = execution.scratch,
          .states = states,
          .counters = execution.counters,
          .encoder = encoder,
          .pattern = pattern};
}

} // namespace

HostStages::HostStages(const CollectiveInfo &collective, const Group &group)
    : inside(collective), betweenHosts(collective), host(groupOfStage(group, collective.schedule, 0)),
      owners(groupOfStage(group, collective.schedule, 1)) {
  for (uint32_t stage = 0; stage < CGX_HOST_STAGES; ++stage)
    patterns[stage] = cgx_host_stage(&collective.schedule, group.size(), stage);
  inside.schedule = {};
  betweenHosts.schedule = {};
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    OperandInfo &operand = inside.operands[i];
    if (!operand.isUncompressed()) {
      operand.codec = collective.schedule.inside;
      operand.levels.reset(); // they are of the other codec
      operand.returnCodec.reset();
      operand.errorFeedback.reset();
    }
    const Chunks chunks{patterns[0], operand.codec, uint32_t(operand.type), operand.elements};
    betweenHosts.operands[i].elements = chunks.size(host.position);
    betweenHosts.operands[i].first = chunks.begin(host.position);
    begins.push_back(chunks.beginByte(host.position));
  }
}

std::vector<OperandState> HostStages::insideStates(std::span<const OperandState> states) {
  std::vector<OperandState> inside(states.size());
  for (size_t i = 0; i < states.size(); ++i)
    inside[i].runs = states[i].runs + kInsideRuns;
  return inside;
}

Execution HostStages::reduction(const Execution &execution, std::span<OperandState> insideStates) const {
  return stageOf(execution, inside, host, insideStates, execution.encoder, patterns[0]);
}

Execution HostStages::between(const Execution &execution) const {
  return stageOf(execution, betweenHosts, owners, execution.states, execution.encoder, patterns[1]);
}

Execution HostStages::gathering(const Execution &execution, std::span<OperandState> insideStates) const {
  return stageOf(execution, inside, host, insideStates, /*encoder=*/host.position, patterns[2]);
}

std::vector<OperandBuffers> HostStages::ownChunks(Buffers operands) const {
  std::vector<OperandBuffers> chunks;
  for (size_t i = 0; i < operands.size(); ++i)
    chunks.push_back({operands[i].output + begins[i], operands[i].output + begins[i]});
  return chunks;
}

} // namespace cgx
