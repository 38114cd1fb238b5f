//===-- cgx/plan/Plan.h - A codec for each layer -*- C++ -*--===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON file of a plan, described in runtime/plan/README.md, as a structure.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_PLAN_H
#define CGX_PLAN_PLAN_H

#include "cgx/plan/Solver.h"

namespace cgx::plan {

struct PlannedLayer {
  std::string layer, kind, dtype;
  uint64_t elements = 0;
  std::string codec; ///< in canonical spelling
  double squaredError = 0, wireBytes = 0;
  double rawBytes = 0;                ///< wire bytes without a codec
  std::optional<double> gradientNorm; ///< norm when the plan was made, with which accordion compares
  std::vector<float> levels = {};     ///< learned levels, as shares of a bucket's range

  bool operator==(const PlannedLayer &) const = default;
};

struct Plan {
  std::string program; ///< hash of the manifest that was profiled
  std::string solver;
  bool proven = false;
  std::string objective; ///< bytes or time
  std::string reference; ///< a codec in canonical spelling
  double alpha = 1, errorBound = 0;
  Cost planned, ofReference;
  std::vector<PlannedLayer> layers; ///< in the order of communication

  /// Parses a plan. Throws Error.
  static Plan parse(std::string_view json);
  std::string toJson() const;
};

Plan makePlan(const Profile &profile, const ProblemOptions &options, const Problem &problem,
              const Solver &solver, const Solution &solution);

} // namespace cgx::plan

#endif // CGX_PLAN_PLAN_H
