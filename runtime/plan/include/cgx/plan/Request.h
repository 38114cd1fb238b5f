//===-- cgx/plan/Request.h - Requests for a plan ----------------*- C++ -*-===//
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

/// A solver and its problem, as JSON. All members may be left out; "reference" may be a list, in which
/// "weight=quantize bits=8" is the reference of one kind:
///
///   {"solver": "lgreco", "reference": "quantize bits=4 bucket=128", "alpha": 1, "objective": "bytes",
///    "max_seconds": null, "bytes_per_second": 125000000, "latency_seconds": 0.00005, "eta": 0.5, "seed": 0}
struct Request {
  std::string solver = "lgreco";
  ProblemOptions problem;
  SolverOptions options;

  Request();
  /// Parses a request. Throws Error.
  static Request parse(std::string_view json);

  /// Solves the request for a profile. Throws Error.
  Plan solve(const Profile &profile) const;
};

} // namespace cgx::plan

#endif // CGX_PLAN_REQUEST_H
