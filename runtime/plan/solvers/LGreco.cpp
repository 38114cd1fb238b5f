//===-- plan/solvers/LGreco.cpp - Dynamic programming over discretized errors -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// L-GreCo, Algorithm 4.1. Errors are counted in steps of errorBound / D, rounded up, so that an assignment
// that fits in steps fits exactly; the slack that rounding leaves is spent at the end. If rounding leaves no
// assignment, the solver improves the reference, which fits exactly.
//
// Layers are in the order of communication, so the end of the last collective so far can replace the bytes so
// far: an earlier end is never worse. Under a time bound the value is bytes + price * seconds, and the price
// is searched.
//
//===----------------------------------------------------------------------===//

#include "Incumbent.h"
#include "Solvers.h"

#include <algorithm>
#include <cmath>

namespace cgx::plan {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The way in which choices add up to the value that a table minimizes.
enum class Sum { Bytes, Finish, Priced };

class Table {
public:
  Table(const Problem &problem, uint32_t steps) : problem(problem), steps(steps) {}

  /// Returns the best assignment in steps; empty if there is none.
  Assignment solve(Sum sum, double price) {
    size_t width = steps + 1;
    std::vector<double> previous(width, kInfinity), current(width);
    std::vector<uint32_t> chosen(width);
    picks.assign(problem.layers.size() * width, 0);
    previous[0] = 0;
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      const Layer &layer = problem.layers[i];
      std::fill(current.begin(), current.end(), kInfinity);
      for (size_t c = 0; c < layer.choices.size(); ++c) {
        uint32_t error = inSteps(layer.choices[c].error);
        if (error > steps)
          continue;
        double added = sum == Sum::Bytes    ? layer.choices[c].bytes
                       : sum == Sum::Finish ? layer.choices[c].seconds
                                            : layer.choices[c].bytes + price * layer.choices[c].seconds;
        double ready = sum == Sum::Finish ? layer.readySeconds : 0;
        relax(previous.data(), current.data() + error, chosen.data() + error, width - error, ready, added,
              uint32_t(c));
      }
      std::copy(chosen.begin(), chosen.end(), picks.begin() + std::ptrdiff_t(i * width));
      std::swap(previous, current);
    }
    return reconstruct(previous);
  }

private:
  uint32_t inSteps(double error) const {
    if (error == 0)
      return 0;
    double count = problem.errorBound > 0 ? std::ceil(error / (problem.errorBound / steps)) : kInfinity;
    return count <= steps ? uint32_t(count) : steps + 1;
  }

  /// The innermost loop: adds one choice of a layer to all errors of the layers before.
  static void relax(const double *previous, double *current, uint32_t *chosen, size_t count, double ready,
                    double added, uint32_t choice) {
    for (size_t e = 0; e < count; ++e) {
      double value = finish(previous[e], ready, added);
      bool isBetter = value < current[e];
      current[e] = isBetter ? value : current[e];
      chosen[e] = isBetter ? choice : chosen[e];
    }
  }

  Assignment reconstruct(const std::vector<double> &last) const {
    size_t error = size_t(std::min_element(last.begin(), last.end()) - last.begin());
    if (last[error] == kInfinity)
      return {};
    Assignment assignment(problem.layers.size());
    for (size_t i = assignment.size(); i-- > 0;) {
      assignment[i] = picks[i * last.size() + error];
      error -= inSteps(problem.layers[i].choices[assignment[i]].error);
    }
    return assignment;
  }

  const Problem &problem;
  uint32_t steps;
  std::vector<uint16_t> picks;
};

/// Repeatedly takes the smaller choice that saves most bytes for the error it adds, while one fits.
void spendSlack(const Problem &problem, Assignment &assignment) {
  double slack = problem.errorBound - problem.cost(assignment).error;
  for (;;) {
    double bestRate = 0;
    size_t bestLayer = 0, bestChoice = 0;
    for (size_t i = 0; i < assignment.size(); ++i) {
      const std::vector<Choice> &choices = problem.layers[i].choices;
      const Choice &now = choices[assignment[i]];
      for (size_t c = 0; c < choices.size(); ++c) {
        double added = choices[c].error - now.error, gained = now.bytes - choices[c].bytes;
        if (gained <= 0 || added > slack)
          continue;
        double rate = added > 0 ? gained / added : kInfinity;
        if (rate > bestRate)
          bestRate = rate, bestLayer = i, bestChoice = c;
      }
    }
    if (bestRate == 0)
      return;
    const std::vector<Choice> &choices = problem.layers[bestLayer].choices;
    slack -= choices[bestChoice].error - choices[assignment[bestLayer]].error;
    assignment[bestLayer] = bestChoice;
  }
}

/// Finds, for bytes under a time bound, the smallest price of a second at which the bound holds.
void searchPrice(const Problem &problem, Table &table, Incumbent &best) {
  double low = 0, high = 1;
  for (int doubling = 0; doubling < 60 && !best.fits(); ++doubling, high *= 4)
    if (Assignment found = table.solve(Sum::Priced, high); !found.empty())
      best.offer(found);
  for (int halving = 0; halving < 20; ++halving) {
    double price = (low + high) / 2;
    Assignment found = table.solve(Sum::Priced, price);
    if (found.empty())
      return;
    best.offer(found);
    (problem.fitsTime(problem.cost(found).seconds) ? high : low) = price;
  }
}

} // namespace

Solution solveLGreco(const Problem &problem, const SolverOptions &options) {
  Incumbent best(problem);
  best.offer(problem.referenceAssignment());
  Table table(problem, std::max<uint32_t>(options.discretization, 1));
  Sum sum = problem.objective == Objective::Bytes ? Sum::Bytes : Sum::Finish;
  if (Assignment found = table.solve(sum, 0); !found.empty())
    best.offer(found);
  if (problem.hasTimeBound() && problem.objective == Objective::Bytes) {
    // The fastest assignment tells whether the bound can hold at all.
    if (Assignment fastest = table.solve(Sum::Finish, 0); !fastest.empty())
      best.offer(fastest);
    if (best.fits())
      searchPrice(problem, table, best);
  }
  if (best.fits() && !problem.timeMatters()) {
    Assignment improved = best.assignment();
    spendSlack(problem, improved);
    best.offer(improved);
  }
  return {best.assignment(), false};
}

} // namespace cgx::plan
