//===-- profile/Adaptation.h - Codecs that change while a program runs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two steps: profile, solve, switch. Everything here is done by all ranks together,
// and leaves all of them with the same profile, the same plan and the same codecs.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROFILE_ADAPTATION_H
#define CGX_RUNTIME_PROFILE_ADAPTATION_H

#include "profile/LevelLearner.h"
#include "profile/Profiler.h"

#include <memory>

namespace cgx {

/// The connection over which ranks agree.
struct StepBoundary {
  Transport &transport;
  std::chrono::milliseconds timeout;
  uint64_t seed;
  uint64_t step; ///< the last that was done
};

class Adaptation {
public:
  /// `codecs` outlive this; they are what `adopt` changes.
  explicit Adaptation(CodecTable &codecs)
      : codecs(codecs), profiled(findProfiledOperands(codecs.program())), norms(profiled.size()) {}

  /// The profiler while a period is measured; else null.
  Profiler *active() { return profiler && profiler->isActive() ? profiler.get() : nullptr; }

  /// The learner of levels in a step that it learns at, and until then is adapted to; else null.
  LevelLearner *learning() { return learner && learner->isLearning() ? &*learner : nullptr; }
  void beginStep(uint64_t step) {
    if (learner)
      learner->beginStep(step);
  }

  /// Begins a period, or, where the options have `levels`, says at which steps levels are learned.
  Status begin(const char *optionsJson, uint64_t firstStep);
  Result<plan::Profile> end(const StepBoundary &boundary);

  /// Ends the period, lets rank 0 solve, and adopts the plan everywhere. Rank 0 alone, because
  /// ties may be broken otherwise on another machine. Returns the plan. Behind a step that levels were
  /// learned at, the plan has these, and no other codec changes.
  Result<std::string> adapt(const StepBoundary &boundary, const char *requestJson);

  /// Takes the codecs of a plan from the next step on.
  Status adopt(const StepBoundary &boundary, const std::string &planJson);

private:
  Status beginLevels(const std::string &requestJson);
  /// Rank 0's plan of a period; of the others nothing is asked.
  Result<std::string> makePlan(const StepBoundary &boundary, const char *requestJson);
  Result<std::string> solve(const plan::Profile &profile, const char *requestJson) const;
  /// Whether a layer can take the candidate, if layers differ in that.
  Status checkUsable(const CodecCandidate &candidate) const;
  Status apply(const std::string &planJson);
  const OperandInfo &infoOf(const ProfiledOperand &place) const {
    return codecs.program().collectives[place.collective].operands[place.operand];
  }

  CodecTable &codecs;
  std::vector<ProfiledOperand> profiled;
  std::vector<std::optional<double>> norms; ///< of the last period, by profiled operand
  std::unique_ptr<Profiler> profiler;
  std::optional<LevelLearner> learner;
  std::vector<plan::PlannedLayer> inForce; ///< what plans have said of layers so far
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_ADAPTATION_H
