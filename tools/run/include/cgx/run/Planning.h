//===-- cgx/run/Planning.h - When codecs are measured and changed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which steps are profiled and after which of them codecs change, by numbers of steps that
// a resumed run counts on: it changes codecs where the run that it goes on from would have.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_PLANNING_H
#define CGX_RUN_PLANNING_H

#include "cgx/run/LevelLearning.h"
#include "cgx/runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cgx::run {

/// A plan of cgx-plan's or of the runtime's, and the step from which it holds.
struct AdoptedPlan {
  uint64_t step = 0;
  std::string json;
};

struct Planning {
  std::string plan;           ///< JSON, adopted before the first step; empty: the program's codecs
  bool profile = false;       ///< whether the last steps are profiled
  std::string profileOptions; ///< JSON: candidates
  uint64_t profileSteps = 10;
  std::string request; ///< JSON: what plans are made; empty: none
  uint64_t every = 100, warmup = 200;
  LevelLearning levels;

  bool adapts() const { return !request.empty(); }
  /// Whether a new plan holds from this step on.
  bool isBoundary(uint64_t step) const;
  /// Whether this step is among those that the next plan is made of, or the profile, where
  /// `end` is the step behind the last.
  bool isProfiled(uint64_t step, uint64_t end) const;
};

/// Does what a planning says, between the steps of one rank.
class Planner {
public:
  Planner(const Planning &planning, cgx_context *context) : planning(planning), context(context) {}

  /// Before the step. Throws Error.
  void beforeStep(uint64_t step, uint64_t end);
  /// Behind the step, before anything else: levels that were learned in it are part of what is kept.
  void afterStep(uint64_t step);
  /// Where `step` is the next: makes the plan that is due, so that a run that goes on from a checkpoint taken
  /// here has it.
  void settle(uint64_t step);
  /// Behind the last step: `end`.
  void finish(uint64_t end);

  std::vector<AdoptedPlan> plans; ///< one for each time that codecs changed
  std::string profile;            ///< JSON; empty if none was asked for

private:
  void adapt(uint64_t step);

  const Planning &planning;
  cgx_context *context;
  bool started = false, profiling = false;
};

} // namespace cgx::run

#endif // CGX_RUN_PLANNING_H
