//===-- schedule/Schedule.h - What one rank sends and receives, step by step ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cgx/schedule.h as one position of a group sees it. No transport, no codec, no device: both executors, of
// the host and of GPUs, take from here who gets which chunk, when, and in which order.
#ifndef CGX_RUNTIME_SCHEDULE_SCHEDULE_H
#define CGX_RUNTIME_SCHEDULE_SCHEDULE_H

#include "cgx/schedule.h"

#include <array>
#include <vector>

namespace cgx {

using Transfer = cgx_transfer;

/// What a position sends and receives at one time, each in the order of the turns.
struct Step {
  std::vector<Transfer> sends, receives;
};

/// Visits each transfer once for each of its chunks.
template <typename Visit> void forEachChunk(const std::vector<Transfer> &transfers, Visit visit) {
  for (const Transfer &transfer : transfers)
    for (uint32_t chunk = transfer.chunk; chunk < transfer.chunk + transfer.count; ++chunk)
      visit(transfer, chunk);
}

/// Contributions travel first, step by step, and what came in one step may be a part of what leaves in the
/// next. Results follow, each from the position with the number of its chunk, unchanged, and over others if
/// there are several steps. One of the two may have nothing to bring.
struct Schedule {
  std::vector<Step> contributions, results;
};

/// All that a position sends in a step, or receives, is visited.
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
