//===-- Planning.cpp - Steps that are profiled and change codecs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Planning.h"

#include "cgx/run/Error.h"

#include <algorithm>

using namespace cgx::run;

bool Planning::isBoundary(uint64_t step) const {
  return adapts() && step >= warmup && step != 0 && (step - warmup) % every == 0;
}

bool Planning::isProfiled(uint64_t step, uint64_t end) const {
  if (profile)
    return end - step <= profileSteps;
  if (!adapts())
    return false;
  uint64_t next = step < warmup ? warmup : warmup + ((step - warmup) / every + 1) * every;
  return next - step <= std::min(profileSteps, every);
}

static void check(cgx_status status) {
  if (status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
}

void Planner::adapt(uint64_t step) {
  const char *plan = nullptr;
  check(cgx_context_adapt(context, planning.request.c_str(), &plan));
  plans.push_back({step, plan});
  profiling = false;
}

void Planner::beforeStep(uint64_t step, uint64_t end) {
  if (!started && !planning.plan.empty()) {
    check(cgx_context_adopt_plan(context, planning.plan.c_str()));
    plans.push_back({step, planning.plan});
  }
  if (!started && !planning.levels.steps.empty())
    check(cgx_context_begin_profile(context, planning.levels.options.c_str()));
  started = true;
  if (profiling && planning.isBoundary(step))
    adapt(step);
  if (!profiling && planning.isProfiled(step, end)) {
    check(cgx_context_begin_profile(
        context, planning.profileOptions.empty() ? nullptr : planning.profileOptions.c_str()));
    profiling = true;
  }
}

void Planner::afterStep(uint64_t step) {
  if (!planning.levels.isAt(step))
    return;
  const char *plan = nullptr;
  check(cgx_context_adapt(context, nullptr, &plan));
  plans.push_back({step + 1, plan});
}

void Planner::settle(uint64_t step) {
  if (profiling && planning.isBoundary(step))
    adapt(step);
}

void Planner::finish(uint64_t end) {
  if (!profiling)
    return;
  // The last plan is made too, so that a run that resumes from here starts with the codecs of a run that did
  // not stop.
  if (planning.isBoundary(end))
    return adapt(end);
  if (!planning.profile)
    return;
  const char *text = nullptr;
  check(cgx_context_end_profile(context, &text));
  profile = text;
}
