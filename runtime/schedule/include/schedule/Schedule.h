//===-- schedule/Schedule.h - The steps of one rank -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is cgx/schedule.h as seen from one position of a group. It knows no transport, no codec and no device:
// the executors of the host and of GPUs both read here who gets which chunk, when, and in which order.
#ifndef CGX_RUNTIME_SCHEDULE_SCHEDULE_H
#define CGX_RUNTIME_SCHEDULE_SCHEDULE_H

#include "cgx/schedule.h"

#include <array>
#include <vector>

namespace cgx {

using Transfer = cgx_transfer;

/// The transfers of one step of a position, sends and receives each in the order of the turns.
struct Step {
  std::vector<Transfer> sends, receives;
};

/// Visits each transfer once for each of its chunks.
template <typename Visit> void forEachChunk(const std::vector<Transfer> &transfers, Visit visit) {
  for (const Transfer &transfer : transfers)
    for (uint32_t chunk = transfer.chunk; chunk < transfer.chunk + transfer.count; ++chunk)
      visit(transfer, chunk);
}

/// Contributions are sent first, step by step; what arrives in one step may be part of what is sent in the
/// next. Results follow unchanged, each from the position with the number of its chunk, and via others if
/// there are several steps. One of the two lists may be empty.
struct Schedule {
  std::vector<Step> contributions, results;
};

/// Visits each transfer that a position sends, or receives, in a step.
template <typename Visit>
void forEachTransfer(const cgx_pattern &pattern, uint32_t phase, uint32_t step, uint32_t position, bool sends,
                     Visit visit) {
  Transfer transfer;
  for (uint32_t turn = 0; turn < cgx_turn_count(&pattern, phase); ++turn)
    if (cgx_transfer_of(&pattern, phase, step, turn, position, sends, &transfer))
      visit(transfer);
}

inline Step stepOf(const cgx_pattern &pattern, uint32_t phase, uint32_t step, uint32_t position) {
  Step own;
  for (auto [transfers, sends] : {std::pair(&own.sends, true), {&own.receives, false}})
    forEachTransfer(pattern, phase, step, position, sends,
                    [&](const Transfer &transfer) { transfers->push_back(transfer); });
  return own;
}

inline Schedule scheduleOf(const cgx_pattern &pattern, uint32_t position) {
  Schedule schedule;
  for (auto [steps, phase] : {std::pair(&schedule.contributions, 0u), {&schedule.results, 1u}})
    for (uint32_t step = 0; step < cgx_step_count(&pattern, phase); ++step)
      steps->push_back(stepOf(pattern, phase, step, position));
  return schedule;
}

} // namespace cgx

#endif // CGX_RUNTIME_SCHEDULE_SCHEDULE_H
