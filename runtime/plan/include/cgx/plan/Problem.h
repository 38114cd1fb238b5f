//===-- cgx/plan/Problem.h - What is to be decided -*- C++ -*--===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiple-choice knapsack: one codec for each layer, the sum of squared errors bounded,
// bytes or time as small as possible.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_PROBLEM_H
#define CGX_PLAN_PROBLEM_H

#include "cgx/plan/Profile.h"

#include <limits>
#include <map>

namespace cgx::plan {

/// One candidate of one layer, in the numbers that count.
struct Choice {
  std::string codec;
  double error = 0;
  double bytes = 0;   ///< that leave all ranks
  double seconds = 0; ///< for which it holds the link: latency, codec, transfer
};

struct Layer {
  std::string name, kind, dtype;
  uint64_t elements = 0;
  double rawBytes = 0; ///< that leave all ranks when it is exact
  double norm = 0;
  std::optional<double> previousNorm;
  double errorScale = 1;       ///< of its kind: errors below are measured ones times this
  double readySeconds = 0;     ///< when the backward pass hands it over
  std::vector<Choice> choices; ///< by bytes, the smallest first; none is dominated
  std::vector<Choice> all;     ///< all candidates, by bytes, for solvers with levels
  Choice reference;
};

enum class Objective { Bytes, Time };

/// The slowest link, as a rank sees it.
struct Link {
  double bytesPerSecond = 125e6; ///< 1 Gbit/s
  double latencySeconds = 50e-6; ///< of a collective
};

struct ProblemOptions {
  std::string reference; ///< canonical codec; layers without it are exact in the reference
  /// By kind: a reference of its own. Kinds then count alike, whatever their units: their errors are scaled
  /// so that the references of all kinds make the same.
  std::map<std::string, std::string> references;
  double alpha = 1; ///< error that is allowed, in errors of the reference
  Objective objective = Objective::Bytes;
  double maxSeconds = std::numeric_limits<double>::infinity(); ///< of a step's communication
  Link link;

  const std::string &referenceOf(const std::string &kind) const {
    auto own = references.find(kind);
    return own == references.end() ? reference : own->second;
  }
  /// Takes `quantize bits=4`, or `weight=quantize bits=8`. Throws Error.
  void setReference(std::string_view text);
};

/// The index of a choice in `Layer::choices`, for each layer.
using Assignment = std::vector<size_t>;

/// What an assignment costs.
struct Cost {
  double error = 0;
  double bytes = 0;
  double seconds = 0; ///< from the begin of the step to the end of its last collective
};

struct Problem {
  std::vector<Layer> layers; ///< in the order of communication
  double errorBound = 0;
  double maxSeconds = std::numeric_limits<double>::infinity();
  Objective objective = Objective::Bytes;
  Cost reference;

  /// Throws Error, in particular when no layer has the reference as a candidate.
  static Problem make(const Profile &profile, const ProblemOptions &options);

  Cost cost(const Assignment &assignment) const;
  double value(const Cost &cost) const { return objective == Objective::Bytes ? cost.bytes : cost.seconds; }

  /// Sums of doubles are not exact: the bounds give way in the twelfth digit.
  bool fitsError(double error) const { return error <= errorBound * (1 + 1e-12); }
  bool fitsTime(double seconds) const { return seconds <= maxSeconds * (1 + 1e-12); }
  bool fits(const Cost &cost) const { return fitsError(cost.error) && fitsTime(cost.seconds); }
  bool hasTimeBound() const { return maxSeconds < std::numeric_limits<double>::infinity(); }

  bool timeMatters() const { return objective == Objective::Time || hasTimeBound(); }

  /// The choice that is never worse than `choice`: it, or one that dominates it.
  size_t indexOf(size_t layer, const Choice &choice) const;
  Assignment referenceAssignment() const;
  /// The choice of least error everywhere.
  Assignment safest() const;
};

/// When a collective ends that is `ready` at a time, holds the link for `seconds`, and
/// waits for the one before it, which ends at `previous`.
inline double finish(double previous, double ready, double seconds) {
  return (previous > ready ? previous : ready) + seconds;
}

} // namespace cgx::plan

#endif // CGX_PLAN_PROBLEM_H
