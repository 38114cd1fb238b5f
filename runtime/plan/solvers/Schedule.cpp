//===-- plan/solvers/Schedule.cpp - The optimum of time ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last collective ends at the maximum over all layers k of
//
//   ready(k) + seconds(k) + ... + seconds(last),
//
// Here k is the last layer that did not wait for another one. Weights m(k) >= 0 on these lines (of sum 1 for
// the objective time) turn them into a sum over layers, in which layer i weighs w(i) = m(0) + ... + m(i), and
// the sum is a lower bound whatever the weights are. For the objective time Deadline.cpp finds the best ones,
// and the optimum of the weighted sum, a knapsack, is mostly the answer: often one line decides. Under a time
// bound multiplicative updates find good ones.
//
// The rest between bound and best is searched: partial assignments ("labels") are extended layer by layer, in
// the order of communication. A label that ends no earlier and has no less error, and no fewer bytes if bytes
// count, than another is dropped, as is one whose reduced costs exceed the gap. A collective that waits for
// the backward pass makes labels of different ends equal.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "Core.h"
#include "Deadline.h"
#include "Incumbent.h"
#include "Relaxation.h"
#include "Solvers.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cgx::plan {

namespace {

constexpr int kWeightUpdates = 120;

struct TimedLabel {
  double end, error, bytes, reduced;
  uint32_t parent, choice;
};

/// A lower bound with its reduced costs.
struct Bound {
  double value = -std::numeric_limits<double>::infinity();
  Costs reduced;
};

class Schedule {
public:
  Schedule(const Problem &problem, const SolverOptions &options)
      : problem(problem), options(options), best(problem),
        countsBytes(problem.objective == Objective::Bytes) {
    best.offer(solveLGreco(problem, options).assignment);
  }

  Solution solve() {
    if (countsBytes)
      updateWeights();
    else if (std::optional<Solution> solution = solveWeighted())
      return *solution;
    fronts.push_back({{0, 0, 0, 0, 0, 0}});
    std::vector<double> leastError = suffix([](const Choice &c) { return c.error; });
    std::vector<double> leastBytes = suffix([](const Choice &c) { return c.bytes; });
    std::vector<double> leastEnd = latestEnd();
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      extend(i, leastError[i + 1], leastBytes[i + 1], leastEnd[i + 1]);
      if (seen > options.labelLimit)
        return {best.assignment(), false};
    }
    for (uint32_t i = 0; i < fronts.back().size(); ++i)
      best.offer(assignmentOf(i));
    return {best.assignment(), true};
  }

private:
  /// Returns for each i the sum of the minima of layers i, i + 1, ....
  template <typename Of> std::vector<double> suffix(Of of) const {
    std::vector<double> sums(problem.layers.size() + 1, 0);
    for (size_t i = problem.layers.size(); i-- > 0;) {
      double least = std::numeric_limits<double>::infinity();
      for (const Choice &choice : problem.layers[i].choices)
        least = std::min(least, of(choice));
      sums[i] = sums[i + 1] + least;
    }
    return sums;
  }

  /// Returns the earliest end of the step if layers before i had ended at 0. The sum of the least seconds
  /// from i on is the other line: see extend().
  std::vector<double> latestEnd() {
    leastSeconds = suffix([](const Choice &c) { return c.seconds; });
    std::vector<double> ends(problem.layers.size() + 1, 0);
    for (size_t i = problem.layers.size(); i-- > 0;)
      ends[i] = std::max(ends[i + 1], problem.layers[i].readySeconds + leastSeconds[i]);
    return ends;
  }

  /// Returns weighted seconds of a layer, plus its bytes if they are the objective.
  Costs weighted(const std::vector<double> &weights) const {
    Costs costs;
    double weight = 0;
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      weight += weights[i];
      costs.emplace_back();
      for (const Choice &choice : problem.layers[i].choices)
        costs.back().push_back(weight * choice.seconds + (countsBytes ? choice.bytes : 0));
    }
    return costs;
  }

  /// Returns the lines of the assignment: for each layer k, when all would end if it had not waited.
  std::vector<double> lines(const Assignment &assignment) const {
    std::vector<double> lines(assignment.size());
    double seconds = 0;
    for (size_t i = assignment.size(); i-- > 0;) {
      seconds += problem.layers[i].choices[assignment[i]].seconds;
      lines[i] = problem.layers[i].readySeconds + seconds;
    }
    return lines;
  }

  /// Returns the answer for the objective time, if the knapsack of the best weights has it.
  std::optional<Solution> solveWeighted() {
    std::vector<double> weights = weighDeadlines(problem, best.value());
    double constant = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      constant += weights[i] * problem.layers[i].readySeconds;
    Costs costs = weighted(weights);
    Problem knapsack = problem;
    knapsack.objective = Objective::Bytes;
    knapsack.maxSeconds = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < costs.size(); ++i)
      for (size_t c = 0; c < costs[i].size(); ++c)
        knapsack.layers[i].choices[c].bytes = costs[i][c];
    Solution solution = solveByCore(knapsack, options.labelLimit, solveLGreco(knapsack, options).assignment);
    best.offer(solution.assignment);
    if (!solution.proven)
      return Solution{best.assignment(), false};
    double least = knapsack.cost(solution.assignment).bytes + constant;
    if (best.value() <= least * (1 + kTolerance))
      return Solution{best.assignment(), true};
    Relaxation relaxation = Relaxation::solve(problem, costs);
    keepBound(relaxation.bound + constant, relaxation, costs);
    return std::nullopt;
  }

  /// Updates the prices of a second for a time bound, starting from none.
  void updateWeights() {
    size_t count = problem.layers.size();
    double scale = 0;
    std::vector<double> shares(count, 1.0 / double(count)), weights(count);
    for (int round = 0; round < kWeightUpdates; ++round) {
      double constant = 0;
      for (size_t i = 0; i < count; ++i) {
        weights[i] = scale * shares[i];
        constant += weights[i] * (problem.layers[i].readySeconds - problem.maxSeconds);
      }
      Costs costs = weighted(weights);
      Relaxation relaxation = Relaxation::solve(problem, costs);
      best.offer(relaxation.rounded);
      keepBound(relaxation.bound + constant, relaxation, costs);
      update(lines(relaxation.rounded), shares, scale, relaxation.bound, round);
    }
  }

  /// Moves weight to the lines that end late, and raises all weights while the bound is violated.
  void update(const std::vector<double> &lines, std::vector<double> &shares, double &scale, double bytes,
              int round) const {
    double latest = *std::max_element(lines.begin(), lines.end()), total = 0;
    double rate = 8 / std::sqrt(1.0 + round);
    for (size_t i = 0; i < lines.size(); ++i) {
      shares[i] = std::max(shares[i] * std::exp(rate * (lines[i] - latest) / std::max(latest, 1e-12)), 1e-12);
      total += shares[i];
    }
    for (double &share : shares)
      share /= total;
    bool isLate = !problem.fitsTime(latest);
    double first = std::max(bytes, 1.0) / std::max(problem.maxSeconds, 1e-12) / 16;
    scale = isLate ? std::max(scale * (1 + rate / 8), first) : scale / (1 + rate / 8);
  }

  void keepBound(double value, const Relaxation &relaxation, const Costs &costs) {
    if (value <= bound.value)
      return;
    bound.value = value;
    bound.reduced.assign(costs.size(), {});
    for (size_t i = 0; i < costs.size(); ++i)
      for (size_t c = 0; c < costs[i].size(); ++c)
        bound.reduced[i].push_back(relaxation.reducedCost(problem, costs, i, c));
  }

  bool mayImprove(double value) const {
    return !best.fits() || value < best.value() * (1 - (countsBytes ? 1e-12 : kTolerance));
  }

  void extend(size_t layer, double leastError, double leastBytes, double leastEnd) {
    const Layer &at = problem.layers[layer];
    const std::vector<TimedLabel> &front = fronts.back();
    std::vector<TimedLabel> next;
    for (size_t c = 0; c < at.choices.size(); ++c) {
      const Choice &choice = at.choices[c];
      double reduced = bound.reduced[layer][c];
      if (!mayImprove(bound.value + reduced))
        continue;
      for (uint32_t i = 0; i < front.size(); ++i) {
        TimedLabel label{finish(front[i].end, at.readySeconds, choice.seconds),
                         front[i].error + choice.error,
                         front[i].bytes + choice.bytes,
                         front[i].reduced + reduced,
                         i,
                         uint32_t(c)};
        double end = std::max(label.end + leastSeconds[layer + 1], leastEnd);
        if (problem.fitsError(label.error + leastError) && problem.fitsTime(end) &&
            mayImprove(countsBytes ? label.bytes + leastBytes : end) &&
            mayImprove(bound.value + label.reduced))
          next.push_back(label);
      }
    }
    seen += next.size();
    // A label that ends before the next layer is ready might as well end then.
    double ready = layer + 1 < problem.layers.size() ? problem.layers[layer + 1].readySeconds : 0;
    for (TimedLabel &label : next)
      label.end = std::max(label.end, ready);
    fronts.push_back(countsBytes ? paretoOfThree(std::move(next)) : paretoOfTwo(std::move(next)));
  }

  static std::vector<TimedLabel> paretoOfTwo(std::vector<TimedLabel> labels) {
    std::sort(labels.begin(), labels.end(), [](const TimedLabel &a, const TimedLabel &b) {
      return a.end != b.end ? a.end < b.end : a.error < b.error;
    });
    double leastError = std::numeric_limits<double>::infinity();
    std::erase_if(labels, [&](const TimedLabel &label) {
      bool isDominated = label.error >= leastError;
      leastError = std::min(leastError, label.error);
      return isDominated;
    });
    return labels;
  }

  /// Labels are taken in the order of ends, against a staircase of (error, bytes) of the labels that end
  /// earlier.
  static std::vector<TimedLabel> paretoOfThree(std::vector<TimedLabel> labels) {
    std::sort(labels.begin(), labels.end(), [](const TimedLabel &a, const TimedLabel &b) {
      return a.end != b.end ? a.end < b.end : a.error != b.error ? a.error < b.error : a.bytes < b.bytes;
    });
    std::map<double, double> stairs; // error -> bytes, which fall as errors rise
    std::erase_if(labels, [&](const TimedLabel &label) {
      auto above = stairs.upper_bound(label.error);
      if (above != stairs.begin() && std::prev(above)->second <= label.bytes)
        return true;
      auto at = stairs.insert_or_assign(label.error, label.bytes).first;
      for (auto after = std::next(at); after != stairs.end() && after->second >= label.bytes;)
        after = stairs.erase(after);
      return false;
    });
    return labels;
  }

  Assignment assignmentOf(uint32_t index) const {
    Assignment assignment(problem.layers.size());
    for (size_t i = assignment.size(); i-- > 0;) {
      const TimedLabel &label = fronts[i + 1][index];
      assignment[i] = label.choice;
      index = label.parent;
    }
    return assignment;
  }

  const Problem &problem;
  const SolverOptions &options;
  uint64_t seen = 0;
  Incumbent best;
  bool countsBytes;
  Bound bound;
  std::vector<double> leastSeconds;
  std::vector<std::vector<TimedLabel>> fronts; ///< indexed by the number of layers assigned
};

} // namespace

Solution solveSchedule(const Problem &problem, const SolverOptions &options) {
  return Schedule(problem, options).solve();
}

} // namespace cgx::plan
