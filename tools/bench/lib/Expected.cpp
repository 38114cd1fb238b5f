//===-- Expected.cpp - Expected results of a collective ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expected.h"

#include <bit>
#include <cmath>

namespace cgx::bench {

/// Maps 64 bits to 64 bits one-to-one and mixes all of them (the finalizer of splitmix64).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

float inputOf(uint32_t rank, uint64_t i) {
  // The element is the sum of four uniform 16-bit numbers, shifted and scaled to mean 0 and standard
  // deviation 1.
  const uint64_t bits = mix((uint64_t(rank) + 1) * 0x9e3779b97f4a7c15 + i);
  const auto sum = float((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return (sum - 131070.0f) / 37837.0f;
}

uint64_t Expected::results() const {
  if (collective == "all_gather")
    return elements * ranks;
  return collective == "reduce_scatter" ? elements / ranks : elements;
}

bool Expected::isReplicated() const {
  return collective == "all_reduce" || collective == "all_gather" || collective == "broadcast";
}

double Expected::busFactor() const {
  const auto n = double(ranks);
  if (collective == "all_reduce")
    return 2 * (n - 1) / n;
  if (collective == "all_gather")
    return n - 1; // each rank contributes only a part
  return collective == "broadcast" ? 1 : (n - 1) / n;
}

/// Returns true if `result` can be the sum, added up in any order.
static bool mayBeSum(float result, double sum, double magnitudes, uint32_t ranks) {
  constexpr double epsilon = 1.2e-7;
  return std::abs(double(result) - sum) <= epsilon * double(ranks) * magnitudes; // false for a NaN
}

uint64_t Expected::countWrong(uint32_t rank, std::span<const float> results) const {
  const uint64_t part = elements / ranks;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < results.size(); ++i) {
    if (collective == "all_reduce" || collective == "reduce_scatter") {
      const uint64_t at = collective == "all_reduce" ? i : rank * part + i;
      double sum = 0, magnitudes = 0;
      for (uint32_t from = 0; from < ranks; ++from) {
        const double x = inputOf(from, at);
        sum += x;
        magnitudes += std::abs(x);
      }
      wrong += !mayBeSum(results[i], sum, magnitudes, ranks);
    } else if (collective == "all_gather") {
      wrong += results[i] != inputOf(uint32_t(i / elements), i % elements);
    } else if (collective == "all_to_all") {
      wrong += results[i] != inputOf(uint32_t(i / part), rank * part + i % part);
    } else { // broadcast, from rank 0
      wrong += results[i] != inputOf(0, i);
    }
  }
  return wrong;
}

uint64_t countNotFinite(std::span<const float> results) {
  uint64_t count = 0;
  for (float x : results)
    count += !std::isfinite(x);
  return count;
}

uint64_t digestOf(std::span<const float> results) {
  uint64_t digest = results.size();
  for (float x : results)
    digest = mix(digest ^ std::bit_cast<uint32_t>(x));
  return digest;
}

} // namespace cgx::bench
