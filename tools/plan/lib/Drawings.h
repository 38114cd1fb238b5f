//===-- Drawings.h - Plans as drawings -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_TOOLS_PLAN_DRAWINGS_H
#define CGX_TOOLS_PLAN_DRAWINGS_H

#include "cgx/plan/Plan.h"

namespace cgx::plan {

/// Draws the bits of an element, layer by layer in the order of communication, over bars for the sizes of the
/// layers, with one line per plan. Throws Error unless the plans have the same layers.
std::string drawBits(const std::vector<Plan> &plans, const std::string &title);

/// The results of one solver under bounds of the error from strict to generous.
struct Front {
  std::string solver;
  std::vector<Cost> points;
};

/// Draws the squared error against bytes, or against time where `objective` is Time.
std::string drawFronts(const std::vector<Front> &fronts, const Cost &reference, Objective objective,
                       const std::string &title);

} // namespace cgx::plan

#endif // CGX_TOOLS_PLAN_DRAWINGS_H
