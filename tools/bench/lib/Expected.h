//===-- Expected.h - What a collective must give ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A benchmark that computes nonsense fast is worth nothing: each variant is run once
// before it is timed, and its results are counted, as nccl-tests do.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_EXPECTED_H
#define CGX_BENCH_EXPECTED_H

#include <cstdint>
#include <span>
#include <string>

namespace cgx::bench {

/// Element i that this rank puts in: bell-shaped roughly, as gradients are, and known to all ranks.
float inputOf(uint32_t rank, uint64_t i);

/// A collective as manifests call it, over `elements` that each rank puts in.
struct Expected {
  std::string collective;
  uint32_t ranks;
  uint64_t elements;

  /// Elements that a rank has afterwards.
  uint64_t results() const;
  /// Whether all ranks have the same afterwards.
  bool isReplicated() const;
  /// Results of this rank that are further from the exact ones than the order of sums explains.
  uint64_t countWrong(uint32_t rank, std::span<const float> results) const;
  /// Bytes that a link of a rank carries for a byte that the rank puts in, by the fastest algorithm there is
  /// (the bus bandwidth of nccl-tests).
  double busFactor() const;
};

/// Results that are not finite: what can be wrong with those of any codec.
uint64_t countNotFinite(std::span<const float> results);

/// Equal for equal bits.
uint64_t digestOf(std::span<const float> results);

} // namespace cgx::bench

#endif // CGX_BENCH_EXPECTED_H
