//===-- DeviceSchedule.h - A schedule and its payloads on GPUs --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_ROUTE_DEVICESCHEDULE_H
#define CGX_RUNTIME_CUDA_ROUTE_DEVICESCHEDULE_H

#include "collective/Collective.h"
#include "cuda/route/PayloadLayout.h"

namespace cgx {

/// The rows of payloads that this rank sends and receives, which all ranks of the group lay out alike.
struct DeviceSchedule {
  PayloadLayout contributions, results;
  Schedule steps;
};

/// Returns the layout of a phase, which may have no bytes.
inline PayloadLayout layoutOf(const Execution &execution, uint32_t phase) {
  const cgx_pattern &pattern = execution.pattern;
  PayloadSizes sizes(pattern.ranks);
  for (uint32_t chunk = 0; chunk < pattern.ranks; ++chunk)
    for (const OperandInfo &operand : execution.collective.operands)
      sizes[chunk].push_back(pattern.movement[phase] == CGX_MOVE_NONE
                                 ? 0
                                 : cgx_part_payload_bytes(&pattern, &operand.codec, &operand.codecOf(phase),
                                                          operand.type, operand.elements, chunk));
  return PayloadLayout(sizes);
}

/// Returns the step in which each position sends the chunk that it owns to all.
inline Step stepOfAll(const Execution &execution) {
  const cgx_collective gather{.kind = CGX_ALL_GATHER, .ranks = execution.group.size()};
  return stepOf(cgx_pattern_of(&gather), kResult, /*step=*/0, execution.self());
}

/// Returns the schedule. It has at least one step of contributions, even if that is empty: in it all ranks
/// report that they have read the last results.
inline DeviceSchedule deviceScheduleOf(const Execution &execution) {
  DeviceSchedule schedule{layoutOf(execution, kContribution), layoutOf(execution, kResult),
                          scheduleOf(execution.pattern, execution.self())};
  if (schedule.steps.contributions.empty())
    schedule.steps.contributions.push_back(stepOfAll(execution));
  return schedule;
}

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ROUTE_DEVICESCHEDULE_H
