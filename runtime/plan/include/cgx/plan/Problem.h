//===-- cgx/plan/Problem.h - The optimization problem of a plan -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The problem is a multiple-choice knapsack: one codec for each layer, with a bound on the sum of squared
// errors, and bytes or time to be minimized.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_PROBLEM_H
#define CGX_PLAN_PROBLEM_H

#include "cgx/plan/Profile.h"

#include <limits>
#include <map>

namespace cgx::plan {

/// The cost of one candidate of one layer.
struct Choice {
  std::string codec;
  double error = 0;
  double bytes = 0;   ///< bytes that leave all ranks
  double seconds = 0; ///< seconds for which it holds the link: latency, codec, transfer
};

struct Layer {
  std::string name, kind, dtype;
  uint64_t elements = 0;
  double rawBytes = 0; ///< bytes that leave all ranks uncompressed
  double norm = 0;
  std::optional<double> previousNorm;
  double errorScale = 1;       ///< scale of its kind: errors below are the measured ones times this
  double readySeconds = 0;     ///< time at which the backward pass has computed it
  std::vector<Choice> choices; ///< by bytes, the smallest first, without dominated ones
  std::vector<Choice> all;     ///< all candidates, by bytes, for solvers with levels
  Choice reference;
};

enum class Objective { Bytes, Time };

/// The slowest link, as one rank sees it.
struct Link {
  double bytesPerSecond = 125e6; ///< 1 Gbit/s
  double latencySeconds = 50e-6; ///< latency of a collective
};

struct ProblemOptions {
  std::string reference; ///< canonical codec; layers without it are uncompressed in the reference
  /// References of single kinds. Kinds then have equal weight, whatever their units: errors are scaled so
  /// that the references of all kinds have the same.
  std::map<std::string, std::string> references;
  double alpha = 1; ///< the allowed error, as a multiple of the reference's
  Objective objective = Objective::Bytes;
  double maxSeconds = std::numeric_limits<double>::infinity(); ///< limit of a step's communication
  Link link;

  const std::string &referenceOf(const std::string &kind) const {
    auto own = references.find(kind);
    return own == references.end() ? reference : own->second;
  }
  /// Sets a reference from `quantize bits=4`, or `weight=quantize bits=8`. Throws Error.
  void setReference(std::string_view text);
};

/// The index of a choice in `Layer::choices`, for each layer.
using Assignment = std::vector<size_t>;

/// The cost of an assignment.
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

  /// Makes the problem. Throws Error, in particular if no layer has the reference as a candidate.
  static Problem make(const Profile &profile, const ProblemOptions &options);

  Cost cost(const Assignment &assignment) const;
  double value(const Cost &cost) const { return objective == Objective::Bytes ? cost.bytes : cost.seconds; }

  /// Sums of doubles are not exact, so the bounds are relaxed in the twelfth digit.
  bool fitsError(double error) const { return error <= errorBound * (1 + 1e-12); }
  bool fitsTime(double seconds) const { return seconds <= maxSeconds * (1 + 1e-12); }
  bool fits(const Cost &cost) const { return fitsError(cost.error) && fitsTime(cost.seconds); }
  bool hasTimeBound() const { return maxSeconds < std::numeric_limits<double>::infinity(); }

  bool timeMatters() const { return objective == Objective::Time || hasTimeBound(); }

  /// Returns a choice that is no worse than `choice`: itself, or one that dominates it.
  size_t indexOf(size_t layer, const Choice &choice) const;
  Assignment referenceAssignment() const;
  /// Returns the choice of least error for every layer.
  Assignment safest() const;
};

/// Returns when a collective ends that is `ready` at a time, holds the link for `seconds`, and waits for the
/// one before it, which ends at `previous`.
inline double finish(double previous, double ready, double seconds) {
  return (previous > ready ? previous : ready) + seconds;
}

} // namespace cgx::plan

#endif // CGX_PLAN_PROBLEM_H
