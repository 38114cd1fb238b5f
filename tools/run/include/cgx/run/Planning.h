//===-- cgx/run/Planning.h - Steps that are profiled and change codecs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which steps are profiled and codecs change. They count steps of the whole
// training, so that a resumed run changes codecs where the run that it resumes would have.
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

/// A plan from cgx-plan or from the runtime, and the step from which it holds.
struct AdoptedPlan {
  uint64_t step = 0;
  std::string json;
};

struct Planning {
  std::string plan;           ///< JSON, adopted before the first step; empty: the program's codecs
  bool profile = false;       ///< the last steps are profiled
  std::string profileOptions; ///< JSON, the candidates
  uint64_t profileSteps = 10;
  std::string request; ///< JSON, the request that plans are made from; empty: none are made
  uint64_t every = 100, warmup = 200;
  LevelLearning levels;

  bool adapts() const { return !request.empty(); }
  /// Returns true if a new plan holds from this step on.
  bool isBoundary(uint64_t step) const;
  /// Returns true if the next plan, or the profile, is made from this step. `end` is the number after the
  /// last step.
  bool isProfiled(uint64_t step, uint64_t end) const;
};

/// The object that profiles and adopts plans as a planning says, between the steps of one rank.
class Planner {
public:
  Planner(const Planning &planning, cgx_context *context) : planning(planning), context(context) {}

  /// Prepares for the step. Throws Error.
  void beforeStep(uint64_t step, uint64_t end);
  /// Finishes the step, before anything else does: levels that were learned in it are part of the state that
  /// is saved.
  void afterStep(uint64_t step);
  /// Makes the plan that is due before step `step`, so that a run that resumes from a checkpoint taken here
  /// has it.
  void settle(uint64_t step);
  /// Finishes after the last step, whose number is `end - 1`.
  void finish(uint64_t end);

  std::vector<AdoptedPlan> plans; ///< one plan per change of codecs
  std::string profile;            ///< JSON; empty if no profile was requested

private:
  void adapt(uint64_t step);

  const Planning &planning;
  cgx_context *context;
  bool started = false, profiling = false;
};

} // namespace cgx::run

#endif // CGX_RUN_PLANNING_H
