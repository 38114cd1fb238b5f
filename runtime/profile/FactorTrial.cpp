//===-- profile/FactorTrial.cpp - Trial of lowrank on all ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/FactorTrial.h"

#include "cgx/kernels/lowrank.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

namespace cgx {

/// After so many power steps, the values of a gradient's spectrum are right to a few percent of its norm.
static constexpr int kPowerSteps = 3;

/// Returns the eigenvalues of a symmetric matrix, the largest first, computed by Jacobi's rotations.
static std::vector<double> eigenvalues(std::vector<double> matrix, size_t size) {
  auto at = [&](size_t row, size_t column) -> double & { return matrix[row * size + column]; };
  for (int sweep = 0; sweep < 30; ++sweep)
    for (size_t p = 0; p < size; ++p)
      for (size_t q = p + 1; q < size; ++q) {
        if (at(p, q) == 0)
          continue;
        double slope = (at(q, q) - at(p, p)) / (2 * at(p, q));
        double tangent = (slope >= 0 ? 1 : -1) / (std::fabs(slope) + std::sqrt(slope * slope + 1));
        double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
        for (size_t i = 0; i < size; ++i) {
          double left = at(i, p), right = at(i, q);
          at(i, p) = cosine * left - sine * right;
          at(i, q) = sine * left + cosine * right;
        }
        for (size_t i = 0; i < size; ++i) {
          double upper = at(p, i), lower = at(q, i);
          at(p, i) = cosine * upper - sine * lower;
          at(q, i) = sine * upper + cosine * lower;
        }
      }
  std::vector<double> values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = at(i, i);
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

static double innerProduct(const float *a, const float *b, uint64_t length) {
  double sum = 0;
  for (uint64_t i = 0; i < length; ++i)
    sum += double(a[i]) * double(b[i]);
  return sum;
}

void FactorTrial::run(std::span<const float> gradient, uint64_t rows, uint32_t most, RandomKey key) {
  Matrix matrix{gradient.data(), rows, gradient.size() / rows};
  square = innerProduct(gradient.data(), gradient.data(), gradient.size());
  energies.clear();
  if (!std::isfinite(square))
    return;
  std::vector<float> left(most * rows), right(most * matrix.columns);
  auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < kPowerSteps; ++step) {
    drawZeroVectors(right.data(), most, matrix.columns, key);
    orthonormalize(right.data(), most, matrix.columns);
    multiply(matrix, right.data(), most, left.data());
    if (!areFinite(left.data(), left.size()))
      return;
    orthonormalize(left.data(), most, rows);
    multiplyTransposed(matrix, left.data(), most, right.data());
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  productSeconds = seconds.count() / (2 * kPowerSteps);
  // The squared singular values of right are the eigenvalues of transpose(right) * right.
  std::vector<double> gram(size_t(most) * most);
  for (size_t i = 0; i < most; ++i)
    for (size_t j = 0; j < most; ++j)
      gram[i * most + j] =
          innerProduct(&right[i * matrix.columns], &right[j * matrix.columns], matrix.columns);
  energies = eigenvalues(std::move(gram), most);
}

Trial::Outcome FactorTrial::outcome(uint32_t rank) const {
  Trial::Outcome outcome;
  outcome.squaredError = square;
  if (energies.size() < rank)
    outcome.squaredError = std::numeric_limits<double>::infinity();
  else
    for (uint32_t i = 0; i < rank; ++i)
      outcome.squaredError -= energies[i];
  outcome.squaredError = std::max(outcome.squaredError, 0.0);
  double share = energies.empty() ? 0 : double(rank) / double(energies.size());
  outcome.encodeSeconds = 2 * productSeconds * share;
  outcome.decodeSeconds = productSeconds * share;
  return outcome;
}

} // namespace cgx
