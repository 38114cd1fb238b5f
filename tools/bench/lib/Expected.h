//===-- Expected.h - Expected results of a collective -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each variant is run once before it is timed, and its wrong results are counted, as nccl-tests
// do: a fast benchmark of wrong results is worthless.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_EXPECTED_H
#define CGX_BENCH_EXPECTED_H

#include <cstdint>
#include <span>
#include <string>

namespace cgx::bench {

/// Returns element i of a rank's input. The values are roughly bell-shaped, as gradients are, and every rank
/// can compute them.
float inputOf(uint32_t rank, uint64_t i);

/// The expected results of a collective, named as in manifests, with `elements` contributed by each rank.
struct Expected {
  std::string collective;
  uint32_t ranks;
  uint64_t elements;

  /// Returns the number of elements that a rank has afterwards.
  uint64_t results() const;
  /// Returns true if all ranks have equal results.
  bool isReplicated() const;
  /// Counts this rank's results that are further from the exact ones than another order of the sums explains.
  uint64_t countWrong(uint32_t rank, std::span<const float> results) const;
  /// Returns the bytes that a rank's link carries per byte that the rank contributes, with the fastest known
  /// algorithm. It is the factor of the bus bandwidth in nccl-tests.
  double busFactor() const;
};

/// Counts the results that are NaN or infinite, which are wrong with any codec.
uint64_t countNotFinite(std::span<const float> results);

/// Returns a digest that is equal for equal bits.
uint64_t digestOf(std::span<const float> results);

} // namespace cgx::bench

#endif // CGX_BENCH_EXPECTED_H
