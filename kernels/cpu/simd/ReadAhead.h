//===-- cpu/simd/ReadAhead.h - The measured prefetch distance ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The best prefetch distance depends on the processor, by more than a factor of two: the best for one make is
// the worst for another. So it is measured while the code does its work: now and then a few pieces are read
// with one distance after the other, and the fastest is kept. Results do not depend on it.

#ifndef CGX_KERNELS_CPU_SIMD_READAHEAD_H
#define CGX_KERNELS_CPU_SIMD_READAHEAD_H

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace cgx {

/// The prefetch distance of one loop over memory, shared by all threads that run it.
class ReadAhead {
public:
  /// The distances to choose from, in bytes. The first two are best where hardware prefetches well by itself.
  static constexpr std::array<uint32_t, 6> distances = {2048, 3072, 4096, 8192, 16384, 32768};
  static constexpr uint32_t rounds = 7; ///< trials of each distance; their median counts
  static constexpr uint32_t trials = rounds * distances.size();
  /// The number of pieces from the first trial of a search to that of the next. The trials cost little among
  /// so many.
  static constexpr uint32_t period = 8192;
  /// The input bytes of a piece, long enough to be timed and short enough for a search within a few MiB.
  static constexpr uint64_t pieceBytes = 128 << 10;
  static constexpr uint32_t noTrial = ~0u;

  struct Piece {
    uint32_t distance; ///< bytes
    uint32_t trial;    ///< `noTrial` if its time is not needed
  };

  constexpr ReadAhead() = default;

  /// Returns the best distance known so far.
  uint32_t distance() const { return distances[chosen.load(std::memory_order_relaxed)]; }

  /// Returns the distance for a piece of about `pieceBytes`.
  Piece begin() {
    const uint32_t trial = turn.fetch_add(1, std::memory_order_relaxed) % period;
    if (trial >= trials)
      return {distance(), noTrial};
    return {distances[trial % distances.size()], trial};
  }

  /// Records the cost of a trial: time over bytes, in any unit that all trials share.
  void end(const Piece &piece, float cost) {
    if (piece.trial == noTrial)
      return;
    costs[piece.trial].store(cost, std::memory_order_relaxed);
    if ((ended.fetch_add(1, std::memory_order_acq_rel) + 1) % trials == 0)
      choose();
  }

  /// Calls step(begin, distance) for elements [0, end) in steps of `stepElements`, which divides `end`. Times
  /// the pieces that are trials.
  template <class Step>
  void forPieces(uint64_t end, uint64_t stepElements, uint64_t elementBytes, Step step) {
    if (end == 0)
      return;
    const uint64_t steps = std::max<uint64_t>(1, pieceBytes / (stepElements * elementBytes));
    const uint64_t pieceElements = steps * stepElements;
    uint64_t begin = 0;
    while (end - begin >= pieceElements) {
      const Piece piece = this->begin();
      const auto run = [&] {
        for (const uint64_t pieceEnd = begin + pieceElements; begin < pieceEnd; begin += stepElements)
          step(begin, piece.distance);
      };
      if (piece.trial == noTrial) {
        run();
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      run();
      const std::chrono::duration<float> time = std::chrono::steady_clock::now() - start;
      this->end(piece, time.count() / float(pieceElements * elementBytes));
    }
    for (; begin < end; begin += stepElements)
      step(begin, distance());
  }

private:
  float medianCost(uint32_t which) const {
    std::array<float, rounds> sorted{};
    for (uint32_t round = 0; round < rounds; ++round)
      sorted[round] = costs[round * distances.size() + which].load(std::memory_order_relaxed);
    std::nth_element(sorted.begin(), sorted.begin() + rounds / 2, sorted.end());
    return sorted[rounds / 2];
  }

  void choose() {
    // Another distance must be better by more than noise.
    constexpr float noise = 0.97f;
    uint32_t best = chosen.load(std::memory_order_relaxed);
    float least = medianCost(best) * noise;
    for (uint32_t which = 0; which < distances.size(); ++which) {
      if (const float cost = medianCost(which); cost < least) {
        least = cost;
        best = which;
      }
    }
    chosen.store(best, std::memory_order_relaxed);
  }

  std::array<std::atomic<float>, trials> costs{};
  std::atomic<uint32_t> turn{0};
  std::atomic<uint32_t> ended{0};
  std::atomic<uint32_t> chosen{3}; ///< an index of `distances`; the first choice is bad nowhere
};

} // namespace cgx

#endif // CGX_KERNELS_CPU_SIMD_READAHEAD_H
