//===-- plan/solvers/Deadline.cpp - The least error by a deadline, relaxed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All communication ends by T if every line does: layers k, k + 1, ... have T - ready(k) seconds together.
// These bounds are nested, so when layers may be split between choices the least error by T is found
// greedily: beginning with the fastest choices, seconds are spent where a second removes most error, until a
// line is full. A full line stops the layers from k on; the error that one more second would have removed
// there is the price of their seconds. Prices rise towards the last layer, and a rise is the weight of a line
// (linear programming duality).
//
// The earliest end is the least T by which the error fits.
//
//===----------------------------------------------------------------------===//

#include "Deadline.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cgx::plan {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kHalvings = 50;
/// The relative rounding error that remains in a sum of doubles when all of an error is removed.
constexpr double kRounding = 1e-13;
/// A line is full when no more than this share of the end is left.
constexpr double kFull = 1e-14;

/// The seconds that lines have left. The seconds that a layer spends are taken from all lines up to its own.
/// A tree of minima stores them, in which a node holds what was taken from all of its lines.
class Slacks {
public:
  explicit Slacks(const std::vector<double> &slacks)
      : leaves(std::bit_ceil(slacks.size())), least(2 * leaves, kInfinity), taken(leaves, 0) {
    std::copy(slacks.begin(), slacks.end(), least.begin() + std::ptrdiff_t(leaves));
    for (size_t node = leaves; --node > 0;)
      update(node);
  }

  /// Returns the seconds that layer `line` can spend: the minimum of lines 0 to `line`.
  double upTo(size_t line) const {
    size_t node = leaves + line;
    double slack = least[node];
    for (; node > 1; node /= 2) {
      if (node % 2 == 1)
        slack = std::min(slack, least[node - 1]);
      slack -= taken[node / 2];
    }
    return slack;
  }

  void take(size_t line, double seconds) {
    size_t node = leaves + line;
    takeAll(node, seconds);
    for (; node > 1; node /= 2) {
      if (node % 2 == 1)
        takeAll(node - 1, seconds);
      update(node / 2);
    }
  }

private:
  void takeAll(size_t node, double seconds) {
    least[node] -= seconds;
    if (node < leaves)
      taken[node] += seconds;
  }
  void update(size_t node) { least[node] = std::min(least[2 * node], least[2 * node + 1]) - taken[node]; }

  size_t leaves;
  std::vector<double> least, taken; ///< indexed by node; 1 is the root
};

/// A change of a layer's choice to a slower one of less error.
struct HullStep {
  size_t layer;
  double seconds, saved;
};

class Deadlines {
public:
  explicit Deadlines(const Problem &problem) : problem(problem) {
    for (size_t i = 0; i < problem.layers.size(); ++i)
      appendSteps(i);
    std::stable_sort(steps.begin(), steps.end(), [](const HullStep &a, const HullStep &b) {
      return a.saved * b.seconds > b.saved * a.seconds;
    });
  }

  /// Returns the least error of an end at `end`; infinite if no assignment ends by then.
  double leastError(double end) {
    prices.assign(problem.layers.size(), 0);
    std::vector<double> slacks = slacksOf(end);
    if (*std::min_element(slacks.begin(), slacks.end()) < 0)
      return kInfinity;
    Slacks left(slacks);
    double error = fastestError;
    size_t open = prices.size(); // layers from this one on are stopped
    for (const HullStep &step : steps) {
      if (step.layer >= open)
        continue;
      double seconds = std::clamp(left.upTo(step.layer), 0.0, step.seconds);
      left.take(step.layer, seconds);
      error -= step.saved * (seconds / step.seconds);
      if (seconds == step.seconds)
        continue;
      size_t full = firstFull(left, step.layer, end);
      std::fill(prices.begin() + std::ptrdiff_t(full), prices.begin() + std::ptrdiff_t(open),
                step.saved / step.seconds);
      open = full;
    }
    return error;
  }

  bool fits(double end) { return leastError(end) <= problem.errorBound + kRounding * fastestError; }

  /// Returns, for the last deadline, the error that one more second would remove, by layer.
  const std::vector<double> &pricesOfSeconds() const { return prices; }

  /// Returns the seconds that lines have left when all choices are the fastest.
  std::vector<double> slacksOf(double end) const {
    std::vector<double> slacks(problem.layers.size());
    double seconds = 0;
    for (size_t i = slacks.size(); i-- > 0;) {
      seconds += fastest[i];
      slacks[i] = end - problem.layers[i].readySeconds - seconds;
    }
    return slacks;
  }

private:
  /// Returns the first full line up to `last`, which is stopped by one of them.
  static size_t firstFull(const Slacks &left, size_t last, double end) {
    size_t first = 0;
    while (first < last) {
      size_t middle = (first + last) / 2;
      if (left.upTo(middle) <= kFull * end)
        last = middle;
      else
        first = middle + 1;
    }
    return first;
  }

  /// Appends the steps along the lower hull of a layer's choices, from the fastest on.
  void appendSteps(size_t layer) {
    std::vector<const Choice *> order, hull;
    for (const Choice &choice : problem.layers[layer].choices)
      if (std::isfinite(choice.error))
        order.push_back(&choice);
    std::sort(order.begin(), order.end(), [](const Choice *a, const Choice *b) {
      return a->seconds != b->seconds ? a->seconds < b->seconds : a->error < b->error;
    });
    for (const Choice *next : order) {
      if (!hull.empty() && next->error >= hull.back()->error)
        continue;
      while (hull.size() >= 2 && !isSteeper(*hull[hull.size() - 2], *hull.back(), *next))
        hull.pop_back();
      hull.push_back(next);
    }
    fastest.push_back(hull.front()->seconds);
    fastestError += hull.front()->error;
    for (size_t i = 1; i < hull.size(); ++i)
      steps.push_back({layer, hull[i]->seconds - hull[i - 1]->seconds, hull[i - 1]->error - hull[i]->error});
  }

  static bool isSteeper(const Choice &from, const Choice &to, const Choice &next) {
    return (from.error - to.error) * (next.seconds - to.seconds) >
           (to.error - next.error) * (to.seconds - from.seconds);
  }

  const Problem &problem;
  std::vector<double> fastest; ///< seconds of the fastest choice, by layer
  double fastestError = 0;
  std::vector<HullStep> steps; ///< ordered by saved error per second, the largest first
  std::vector<double> prices;
};

} // namespace

std::vector<double> weighDeadlines(const Problem &problem, double latest) {
  Deadlines deadlines(problem);
  double earliest = 0;
  for (int i = 0; i < kHalvings; ++i) {
    double middle = (earliest + latest) / 2;
    (deadlines.fits(middle) ? latest : earliest) = middle;
  }
  bool isLimitedByError = deadlines.leastError(earliest) < kInfinity;
  deadlines.leastError(latest);
  std::vector<double> weights = deadlines.pricesOfSeconds();
  double last = weights.back();
  if (!isLimitedByError || last == 0) {
    // The fastest choices end no earlier than `latest`.
    std::vector<double> slacks = deadlines.slacksOf(latest);
    weights.assign(slacks.size(), 0);
    weights[size_t(std::min_element(slacks.begin(), slacks.end()) - slacks.begin())] = 1;
    return weights;
  }
  for (size_t i = weights.size(); i-- > 0;)
    weights[i] = (weights[i] - (i > 0 ? weights[i - 1] : 0)) / last;
  return weights;
}

} // namespace cgx::plan
