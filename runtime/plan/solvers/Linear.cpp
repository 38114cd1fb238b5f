//===-- plan/solvers/Linear.cpp - Levels interpolated over an order of layers -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CGX 3.5.1: "sort layers by the ratio of gradient magnitude over the layer size. We then assign the lowest
// bit-width to the first layers in this order, and the highest to the last layers, interpolating linearly in
// the middle." The paper does not say which widths are lowest and highest; this solver takes the best pair.
//
//===----------------------------------------------------------------------===//

#include "Levels.h"
#include "Solvers.h"

#include <algorithm>
#include <numeric>

namespace cgx::plan {

Solution solveLinear(const Problem &problem, const SolverOptions &) {
  Levels levels(problem);
  size_t count = problem.layers.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  auto density = [&](size_t i) {
    return problem.layers[i].norm / double(std::max<uint64_t>(problem.layers[i].elements, 1));
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return density(a) < density(b); });
  Assignment best = levels.bestRange([&](size_t lowest, size_t highest) {
    std::vector<size_t> assigned(count);
    for (size_t place = 0; place < count; ++place)
      assigned[order[place]] = lowest + place * (highest - lowest + 1) / count;
    return assigned;
  });
  return {best, false};
}

} // namespace cgx::plan
