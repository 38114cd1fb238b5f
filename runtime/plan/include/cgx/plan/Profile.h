//===-- cgx/plan/Profile.h - Measurements of layers -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON file of a profile, described in runtime/plan/README.md, as a structure.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_PROFILE_H
#define CGX_PLAN_PROFILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgx::plan {

/// The measurements of one codec on one layer.
struct Candidate {
  std::string codec;       ///< canonical, see Codec.h
  double squaredError = 0; ///< on the accumulated gradient; infinite: unusable
  double wireBytes = 0;    ///< bytes that leave all ranks in a step
  double encodeSeconds = 0, exchangeSeconds = 0, decodeSeconds = 0; ///< in a step; 0: not measured

  bool operator==(const Candidate &) const = default;
};

struct LayerProfile {
  std::string layer;
  std::string kind; ///< gradient, weight, activation, outer_gradient, other
  std::string dtype;
  uint64_t elements = 0;
  int64_t collective = 0;             ///< id of the collective that carries it
  uint64_t position = 0;              ///< place in the order in which the step communicates
  double readySeconds = 0;            ///< the step's own work before its collective
  double gradientNorm = 0;            ///< l2 norm of the accumulated gradient, mean over ranks
  std::optional<double> previousNorm; ///< norm of the period before
  std::vector<Candidate> candidates;

  bool operator==(const LayerProfile &) const = default;
};

struct Profile {
  std::string program; ///< hash of the manifest
  uint32_t ranks = 1;
  uint64_t firstStep = 0, steps = 0; ///< the accumulated steps
  double stepSeconds = 0;            ///< time of a step, without profiling
  double computeSeconds = 0;         ///< the part of it outside of collectives
  double profilingSeconds = 0;       ///< time of measuring, over all steps
  std::vector<LayerProfile> layers;

  /// Parses a profile. Throws Error.
  static Profile parse(std::string_view json);
  std::string toJson() const;

  bool operator==(const Profile &) const = default;
};

} // namespace cgx::plan

#endif // CGX_PLAN_PROFILE_H
