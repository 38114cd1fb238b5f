//===-- profile/Adaptation.h - Codecs that change while a program runs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two steps, ranks profile, solve and switch codecs. All ranks act together, and end with the same
// profile, the same plan and the same codecs.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROFILE_ADAPTATION_H
#define CGX_RUNTIME_PROFILE_ADAPTATION_H

#include "profile/LevelLearner.h"
#include "profile/Profiler.h"

#include <memory>

namespace cgx {

/// The connection over which ranks agree between two steps.
struct StepBoundary {
  Transport &transport;
  std::chrono::milliseconds timeout;
  uint64_t seed;
  uint64_t step; ///< the last completed step
};

class Adaptation {
public:
  /// `codecs` must outlive this object; `adopt` changes them.
  explicit Adaptation(CodecTable &codecs)
      : codecs(codecs), profiled(findProfiledOperands(codecs.program())), norms(profiled.size()) {}

  /// Returns the profiler while a period is measured; else null.
  Profiler *active() { return profiler && profiler->isActive() ? profiler.get() : nullptr; }

  /// Returns the learner of levels during a step at which it learns, and until adapt() after it; else null.
  LevelLearner *learning() { return learner && learner->isLearning() ? &*learner : nullptr; }
  void beginStep(uint64_t step) {
    if (learner)
      learner->beginStep(step);
  }

  /// Begins a period. If the options have `levels`, sets the steps at which levels are learned.
  Status begin(const char *optionsJson, uint64_t firstStep);
  Result<plan::Profile> end(const StepBoundary &boundary);

  /// Ends the period, lets rank 0 solve, and adopts the plan on all ranks. Only rank 0 solves, because
  /// another machine may break ties differently. Returns the plan. After a step at which levels were learned,
  /// the plan has these levels, and no other codec changes.
  Result<std::string> adapt(const StepBoundary &boundary, const char *requestJson);

  /// Applies the codecs of a plan from the next step on.
  Status adopt(const StepBoundary &boundary, const std::string &planJson);

private:
  Status beginLevels(const std::string &requestJson);
  /// Returns rank 0's plan of a period; "" on the other ranks.
  Result<std::string> makePlan(const StepBoundary &boundary, const char *requestJson);
  Result<std::string> solve(const plan::Profile &profile, const char *requestJson) const;
  /// Returns an error if no layer can use the candidate.
  Status checkUsable(const CodecCandidate &candidate) const;
  Status apply(const std::string &planJson);
  const OperandInfo &infoOf(const ProfiledOperand &place) const {
    return codecs.program().collectives[place.collective].operands[place.operand];
  }

  CodecTable &codecs;
  std::vector<ProfiledOperand> profiled;
  std::vector<std::optional<double>> norms; ///< norms of the last period, by profiled operand
  std::unique_ptr<Profiler> profiler;
  std::optional<LevelLearner> learner;
  std::vector<plan::PlannedLayer> inForce; ///< the latest entry of each layer in all plans so far
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_ADAPTATION_H
