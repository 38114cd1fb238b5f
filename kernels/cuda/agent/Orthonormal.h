//===-- Orthonormal.h - Gram-Schmidt by one thread block --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are orthonormalize() and drawZeroVectors() of lowrank.h. Inner products are added in the order that
// is fixed there: eight lanes add up one block of elements, and all lanes of all warps several blocks.
#ifndef CGX_KERNELS_CUDA_AGENT_ORTHONORMAL_H
#define CGX_KERNELS_CUDA_AGENT_ORTHONORMAL_H

#include "TileRange.h"
#include "cgx/kernels/lowrank.h"

#include <cmath>

namespace cgx::cuda {

/// Adds the values of eight lanes, neighbours first. The first lane gets ((0 + 1) + (2 + 3)) + ((4 + 5) + (6
/// + 7)).
template <typename Warp, typename Values> CGX_AGENT Values addNeighbours(const Warp &lanes, Values value) {
  for (uint32_t mask = 1; mask < lowrankLanes; mask *= 2) {
    const Values other = lanes.shuffleXor(value, mask);
    lanes.forEach([&](uint32_t lane) { value[lane] = value[lane] + other[lane]; });
  }
  return value;
}

/// The number of blocks of elements that a warp adds up at once, and that eight warps do.
constexpr uint32_t blocksOfWarp = laneCount / lowrankLanes, blocksAtOnce = 8 * blocksOfWarp;
/// The part of Agent::sharedBytes that Vectors need: a sum for each of these blocks, and the sum of all.
constexpr uint32_t vectorsSharedBytes = (blocksAtOnce + 1) * sizeof(double);

/// The vectors of one matrix, on which one thread block works. Threads must wait for each other before they
/// read what another one wrote.
template <typename ThreadBlock> class Vectors {
public:
  CGX_AGENT Vectors(const ThreadBlock &threads, float *vectors, uint32_t count, uint64_t length)
      : threads(threads), vectors(vectors), count(count), length(length) {}

  CGX_AGENT void orthonormalize() const {
    for (uint32_t j = 0; j < count; ++j) {
      normalize(j);
      orthogonalize(j);
      if (normalize(j) < dependentVector) {
        forEachElement([&](uint64_t i) { vectors[j * length + i] = 0.0f; });
        continue;
      }
      orthogonalize(j);
      normalize(j);
    }
  }

  /// Replaces vectors of zeros by random ones. Returns whether there was one.
  CGX_AGENT bool drawZeros(RandomKey key) const {
    bool drawn = false;
    for (uint32_t j = 0; j < count; ++j) {
      if (any([&](uint64_t i) { return vectors[j * length + i] != 0.0f; }))
        continue;
      drawn = true;
      forEachElement([&](uint64_t i) { vectors[j * length + i] = drawStart(key, j * length + i); });
    }
    return drawn;
  }

  CGX_AGENT bool areFinite() const {
    return !any([&](uint64_t i) {
      bool isFound = false;
      for (uint32_t j = 0; j < count; ++j)
        isFound = isFound || !isFinite(vectors[j * length + i]);
      return isFound;
    });
  }

private:
  template <typename Step> CGX_AGENT void forEachElement(const Step &step) const {
    threads.forEachIndex(0, length, step);
    threads.wait();
  }

  template <typename Holds> CGX_AGENT bool any(const Holds &holds) const {
    uint32_t *found = threads.template shared<uint32_t>();
    threads.once([&] { *found = 0; });
    threads.forEachIndex(0, length, [&](uint64_t i) {
      if (holds(i))
        storeRelaxed(found, 1);
    });
    threads.wait();
    const bool isFound = *found != 0;
    threads.wait();
    return isFound;
  }

  CGX_AGENT double innerProduct(uint32_t a, uint32_t b) const {
    double *sums = threads.template shared<double>(), *product = sums + blocksAtOnce;
    threads.once([&] { *product = 0.0; });
    for (uint64_t begin = 0; begin < length; begin += blocksAtOnce * lowrankBlockColumns) {
      threads.forEachWarp(0, blocksAtOnce / blocksOfWarp, [&](const auto &lanes, uint64_t warp) {
        addBlocks(lanes, a, b, begin + warp * blocksOfWarp * lowrankBlockColumns, sums + warp * blocksOfWarp);
      });
      threads.once([&] {
        for (uint64_t i = 0; i < blocksAtOnce && begin + i * lowrankBlockColumns < length; ++i)
          *product += sums[i];
      });
    }
    const double result = *product;
    threads.wait();
    return result;
  }

  /// Computes the sums of a warp's blocks, the first of which begins at `begin`.
  template <typename Warp>
  CGX_AGENT void addBlocks(const Warp &lanes, uint32_t a, uint32_t b, uint64_t begin, double *blocks) const {
    PerLane<Warp, double> sums;
    lanes.forEach([&](uint32_t lane) {
      const uint64_t first = begin + lane / lowrankLanes * lowrankBlockColumns;
      const uint64_t end = first + lowrankBlockColumns < length ? first + lowrankBlockColumns : length;
      sums[lane] = 0.0;
      for (uint64_t i = first + lane % lowrankLanes; i < end; i += lowrankLanes)
        sums[lane] += double(vectors[a * length + i]) * double(vectors[b * length + i]);
    });
    sums = addNeighbours(lanes, sums);
    lanes.forEach([&](uint32_t lane) {
      if (lane % lowrankLanes == 0)
        blocks[lane / lowrankLanes] = sums[lane];
    });
  }

  CGX_AGENT double normalize(uint32_t j) const {
    const double norm = std::sqrt(innerProduct(j, j));
    if (norm != 0)
      forEachElement([&](uint64_t i) {
        float &value = vectors[j * length + i];
        value = float(double(value) / norm);
      });
    return norm;
  }

  CGX_AGENT void orthogonalize(uint32_t index) const {
    for (uint32_t j = 0; j < index; ++j) {
      const double share = innerProduct(index, j);
      forEachElement([&](uint64_t i) {
        float &value = vectors[index * length + i];
        value = float(double(value) - share * double(vectors[j * length + i]));
      });
    }
  }

  const ThreadBlock &threads;
  float *vectors;
  uint32_t count;
  uint64_t length;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_ORTHONORMAL_H
