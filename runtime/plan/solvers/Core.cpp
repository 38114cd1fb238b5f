//===-- plan/solvers/Core.cpp - An expanding core for the knapsack -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The method follows Pisinger (1995). The relaxation fixes a base assignment. Layers are opened in the order
// of their smallest reduced cost. After each, the remaining partial assignments ("labels", in which layers
// not opened stay at the base) are those that no other dominates in bytes and error and whose bound is below
// the best known assignment. A layer whose smallest reduced cost exceeds the gap need not be opened: when
// none is left, the best known assignment is the optimum.
//
//===----------------------------------------------------------------------===//

#include "Core.h"

#include "Incumbent.h"
#include "Relaxation.h"

#include <algorithm>
#include <cmath>

namespace cgx::plan {

namespace {

/// A partial assignment, as its difference to the base assignment.
struct Label {
  double bytes, error;
  uint32_t parent; ///< index among the labels before the last layer was opened
  uint32_t choice; ///< choice of the last opened layer
};

class Core {
public:
  Core(const Problem &problem, uint64_t limit, const Assignment &start)
      : problem(problem), limit(limit), best(problem) {
    best.offer(start);
    for (const Layer &layer : problem.layers) {
      costs.emplace_back();
      for (const Choice &choice : layer.choices) {
        costs.back().push_back(choice.bytes);
        whole = whole && choice.bytes == std::floor(choice.bytes) && choice.bytes < 0x1p52;
      }
    }
    relaxation = Relaxation::solve(problem, costs);
    best.offer(relaxation.rounded);
    baseCost = problem.cost(relaxation.base);
  }

  Solution solve() {
    std::vector<std::pair<double, size_t>> order; // smallest reduced cost, layer
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (size_t c = 0; c < problem.layers[i].choices.size(); ++c)
        if (c != relaxation.base[i])
          least = std::min(least, reduced(i, c));
      order.push_back({least, i});
    }
    std::sort(order.begin(), order.end());
    fronts.push_back({{0, 0, 0, 0}});
    offerBest();
    for (auto [least, layer] : order) {
      if (!mayImprove(relaxation.bound + least))
        break;
      open(layer);
      if (fronts.back().empty())
        break;
      if (seen > limit)
        return {best.assignment(), false};
      offerBest();
    }
    return {best.assignment(), true};
  }

private:
  double reduced(size_t layer, size_t choice) const {
    return relaxation.reducedCost(problem, costs, layer, choice);
  }

  /// Returns true if an assignment of at least `bound` bytes could be better than the best.
  bool mayImprove(double bound) const {
    if (!best.fits())
      return true;
    // Whole bytes improve by at least one, up to the rounding of sums.
    double step = whole ? 1 - 1e-3 - 1e-12 * best.value() : kTolerance * best.value();
    return bound < best.value() - step;
  }

  void open(size_t layer) {
    const std::vector<Choice> &choices = problem.layers[layer].choices;
    const Choice &base = choices[relaxation.base[layer]];
    std::vector<Label> next;
    const std::vector<Label> &front = fronts.back();
    for (size_t c = 0; c < choices.size(); ++c) {
      if (c != relaxation.base[layer] && !mayImprove(relaxation.bound + reduced(layer, c)))
        continue;
      double bytes = choices[c].bytes - base.bytes, error = choices[c].error - base.error;
      size_t begin = next.size();
      for (uint32_t i = 0; i < front.size(); ++i) {
        Label label{front[i].bytes + bytes, front[i].error + error, i, uint32_t(c)};
        // This is the sum of the reduced costs of the label's choices.
        if (mayImprove(relaxation.bound + label.bytes + relaxation.price * label.error))
          next.push_back(label);
      }
      // Each choice keeps the front's order by bytes, so that the lists can be merged.
      std::inplace_merge(next.begin(), next.begin() + std::ptrdiff_t(begin), next.end(),
                         [](const Label &a, const Label &b) {
                           return a.bytes != b.bytes ? a.bytes < b.bytes : a.error < b.error;
                         });
    }
    seen += next.size();
    double leastError = std::numeric_limits<double>::infinity();
    std::erase_if(next, [&](const Label &label) {
      bool isDominated = label.error >= leastError;
      leastError = std::min(leastError, label.error);
      return isDominated;
    });
    opened.push_back(layer);
    fronts.push_back(std::move(next));
  }

  /// Offers the first label that fits, which has the fewest bytes of all that fit.
  void offerBest() {
    const std::vector<Label> &front = fronts.back();
    for (uint32_t i = 0; i < front.size(); ++i)
      if (problem.fitsError(baseCost.error + front[i].error)) {
        if (!best.fits() || baseCost.bytes + front[i].bytes < best.value())
          best.offer(assignmentOf(i));
        return;
      }
  }

  Assignment assignmentOf(uint32_t index) const {
    Assignment assignment = relaxation.base;
    for (size_t i = opened.size(); i-- > 0;) {
      const Label &label = fronts[i + 1][index];
      assignment[opened[i]] = label.choice;
      index = label.parent;
    }
    return assignment;
  }

  const Problem &problem;
  uint64_t limit, seen = 0;
  Incumbent best;
  Costs costs;
  bool whole = true; ///< true if all bytes are whole numbers
  Relaxation relaxation;
  Cost baseCost;
  std::vector<size_t> opened;
  std::vector<std::vector<Label>> fronts; ///< one more than `opened`
};

} // namespace

Solution solveByCore(const Problem &problem, uint64_t labelLimit, const Assignment &start) {
  return Core(problem, labelLimit, start).solve();
}

} // namespace cgx::plan
