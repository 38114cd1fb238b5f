//===-- cgx/plan/Request.h - What plan is wanted -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PLAN_REQUEST_H
#define CGX_PLAN_REQUEST_H

#include "cgx/plan/Plan.h"

namespace cgx::plan {

/// A solver and what it is to solve, as JSON (all members may be left out; "reference" may be a list, in
/// which "weight=quantize bits=8" is that of one kind):
///
///   {"solver": "lgreco", "reference": "quantize bits=4 bucket=128", "alpha": 1, "objective": "bytes",
///    "max_seconds": null, "bytes_per_second": 125000000, "latency_seconds": 0.00005, "eta": 0.5, "seed": 0}
struct Request {
  std::string solver = "lgreco";
  ProblemOptions problem;
  SolverOptions options;

  Request();
  /// Throws Error.
  static Request parse(std::string_view json);

  /// Throws Error.
  Plan solve(const Profile &profile) const;
};

} // namespace cgx::plan

#endif // CGX_PLAN_REQUEST_H
