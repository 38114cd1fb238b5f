//===-- plan/solvers/Accordion.cpp - Less compression in critical regimes -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accordion (Agarwal et al., 2021): a layer is in a critical regime when the norm of its gradient changed by
// more than a share eta since the period before. Critical layers are compressed less, others more. The solver
// does not use the errors of codecs.
//
//===----------------------------------------------------------------------===//

#include "Levels.h"
#include "Solvers.h"

#include <cmath>

namespace cgx::plan {

namespace {

/// Without an earlier norm, training has just begun, which is critical.
bool isCritical(const Layer &layer, double eta) {
  if (!layer.previousNorm || !std::isfinite(layer.norm) || !std::isfinite(*layer.previousNorm))
    return true;
  return std::fabs(*layer.previousNorm - layer.norm) >= eta * *layer.previousNorm;
}

} // namespace

Solution solveAccordion(const Problem &problem, const SolverOptions &options) {
  Levels levels(problem);
  size_t careful = levels.reference(), bold = careful == 0 ? 0 : careful - 1;
  std::vector<size_t> assigned;
  for (const Layer &layer : problem.layers)
    assigned.push_back(isCritical(layer, options.eta) ? careful : bold);
  return {levels.assign(assigned), false};
}

Solution solveLGrecoAccordion(const Problem &problem, const SolverOptions &options) {
  Problem relaxed = problem;
  double error = problem.cost(solveAccordion(problem, options).assignment).error;
  // The bound is scaled so that alpha keeps its meaning.
  relaxed.errorBound =
      problem.reference.error > 0 ? error * (problem.errorBound / problem.reference.error) : 0;
  return solveLGreco(relaxed, options);
}

} // namespace cgx::plan
