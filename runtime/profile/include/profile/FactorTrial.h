//===-- profile/FactorTrial.h - Trial of lowrank on all ranks ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trial measures the error of lowrank on a matrix, for all ranks up to one at the cost of that one: power
// steps with the largest rank find approximately the largest singular values, and the best matrix of rank r
// loses the squares of all but the first r. Warm-started steps of a training come close to it.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUNTIME_PROFILE_FACTORTRIAL_H
#define CGX_RUNTIME_PROFILE_FACTORTRIAL_H

#include "profile/Trial.h"

#include <cstdint>

namespace cgx {

class FactorTrial {
public:
  /// Runs the power steps. `most` is below rows and columns.
  void run(std::span<const float> gradient, uint64_t rows, uint32_t most, RandomKey key);

  /// Returns the outcome of a rank up to `most`.
  Trial::Outcome outcome(uint32_t rank) const;

private:
  double square = 0;            ///< the square of the gradient's norm
  std::vector<double> energies; ///< squares of singular values, the largest first
  double productSeconds = 0;    ///< time of a product with `most` vectors
};

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_FACTORTRIAL_H
