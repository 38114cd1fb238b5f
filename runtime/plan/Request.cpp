//===-- plan/Request.cpp - Requests for a plan ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plan/Request.h"

#include "Fields.h"

namespace cgx::plan {

using Json = nlohmann::json;

Request::Request() { problem.reference = parseCodecLabel("quantize bits=4 bucket=128"); }

Request Request::parse(std::string_view text) {
  Json json = formats::parseJson(text);
  Fields fields(json, "request of a plan");
  Request request;
  for (const auto &[name, value] : json.items()) {
    if (name == "solver")
      request.solver = findSolver(fields.text("solver")).name;
    else if (name == "reference")
      for (const Json &one : value.is_array() ? value : Json::array({value}))
        request.problem.setReference(one.is_string() ? one.get<std::string>() : fields.text("reference"));
    else if (name == "alpha")
      request.problem.alpha = fields.amount("alpha");
    else if (name == "objective" && (value == "bytes" || value == "time"))
      request.problem.objective = value == "bytes" ? Objective::Bytes : Objective::Time;
    else if (name == "max_seconds")
      request.problem.maxSeconds = fields.amount("max_seconds");
    else if (name == "bytes_per_second")
      request.problem.link.bytesPerSecond = fields.amount("bytes_per_second");
    else if (name == "latency_seconds")
      request.problem.link.latencySeconds = fields.amount("latency_seconds");
    else if (name == "eta")
      request.options.eta = fields.amount("eta");
    else if (name == "seed")
      request.options.seed = fields.count("seed");
    else
      throw Error(
          "request of a plan: expected solver, reference, alpha, objective (bytes or time), max_seconds, "
          "bytes_per_second, latency_seconds, eta or seed, got '" +
          name + "': " + formats::valueText(value));
  }
  return request;
}

Plan Request::solve(const Profile &profile) const {
  Problem made = Problem::make(profile, problem);
  const Solver &chosen = findSolver(solver);
  return makePlan(profile, problem, made, chosen, plan::solve(chosen, made, options));
}

} // namespace cgx::plan
