//===-- Orthonormal.h - Gram-Schmidt by one block of threads ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// orthonormalize() and drawZeroVectors() of lowrank.h. Inner products are added in the order that is fixed
// there: eight lanes have a block of elements, and all lanes of all warps some block.
#ifndef CGX_KERNELS_CUDA_BODY_ORTHONORMAL_H
#define CGX_KERNELS_CUDA_BODY_ORTHONORMAL_H

#include "Slice.h"
#include "cgx/kernels/lowrank.h"

#include <cmath>

namespace cgx::cuda {

/// Adds what eight lanes hold, neighbours first: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)) is in the first.
template <typename Lanes, typename Values> CGX_BODY Values addNeighbours(const Lanes &lanes, Values value) {
  for (uint32_t mask = 1; mask < lowrankLanes; mask *= 2) {
    const Values other = lanes.shuffleXor(value, mask);
    lanes.forEach([&](uint32_t lane) { value[lane] = value[lane] + other[lane]; });
  }
  return value;
}

/// Blocks of elements that a warp adds up at once, and that eight warps do.
constexpr uint32_t blocksOfWarp = laneCount / lowrankLanes, blocksAtOnce = 8 * blocksOfWarp;
/// What Vectors need of Body::sharedBytes: a sum for each of these, and the sum of all.
constexpr uint32_t vectorsSharedBytes = (blocksAtOnce + 1) * sizeof(double);

/// Vectors of one matrix, which one block of threads works on. Everybody must have written what is read next.
template <typename Crew> class Vectors {
public:
  CGX_BODY Vectors(const Crew &crew, float *vectors, uint32_t count, uint64_t length)
      : crew(crew), vectors(vectors), count(count), length(length) {}

  CGX_BODY void orthonormalize() const {
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

  /// Returns whether there was one.
  CGX_BODY bool drawZeros(RandomKey key) const {
    bool drawn = false;
    for (uint32_t j = 0; j < count; ++j) {
      if (any([&](uint64_t i) { return vectors[j * length + i] != 0.0f; }))
        continue;
      drawn = true;
      forEachElement([&](uint64_t i) { vectors[j * length + i] = drawStart(key, j * length + i); });
    }
    return drawn;
  }

  CGX_BODY bool areFinite() const {
    return !any([&](uint64_t i) {
      bool isFound = false;
      for (uint32_t j = 0; j < count; ++j)
        isFound = isFound || !isFinite(vectors[j * length + i]);
      return isFound;
    });
  }

private:
  template <typename Step> CGX_BODY void forEachElement(const Step &step) const {
    crew.forEachIndex(0, length, step);
    crew.wait();
  }

  template <typename Holds> CGX_BODY bool any(const Holds &holds) const {
    uint32_t *found = crew.template shared<uint32_t>();
    crew.once([&] { *found = 0; });
    crew.forEachIndex(0, length, [&](uint64_t i) {
      if (holds(i))
        storeRelaxed(found, 1);
    });
    crew.wait();
    const bool isFound = *found != 0;
    crew.wait();
    return isFound;
  }

  CGX_BODY double innerProduct(uint32_t a, uint32_t b) const {
    double *sums = crew.template shared<double>(), *product = sums + blocksAtOnce;
    crew.once([&] { *product = 0.0; });
    for (uint64_t begin = 0; begin < length; begin += blocksAtOnce * lowrankBlockColumns) {
      crew.forEachWarp(0, blocksAtOnce / blocksOfWarp, [&](const auto &lanes, uint64_t warp) {
        addBlocks(lanes, a, b, begin + warp * blocksOfWarp * lowrankBlockColumns, sums + warp * blocksOfWarp);
      });
      crew.once([&] {
        for (uint64_t i = 0; i < blocksAtOnce && begin + i * lowrankBlockColumns < length; ++i)
          *product += sums[i];
      });
    }
    const double result = *product;
    crew.wait();
    return result;
  }

  /// The sums of a warp's blocks, of which the first begins at `begin`.
  template <typename Lanes>
  CGX_BODY void addBlocks(const Lanes &lanes, uint32_t a, uint32_t b, uint64_t begin, double *blocks) const {
    PerLane<Lanes, double> sums;
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

  CGX_BODY double normalize(uint32_t j) const {
    const double norm = std::sqrt(innerProduct(j, j));
    if (norm != 0)
      forEachElement([&](uint64_t i) {
        float &value = vectors[j * length + i];
        value = float(double(value) / norm);
      });
    return norm;
  }

  CGX_BODY void orthogonalize(uint32_t index) const {
    for (uint32_t j = 0; j < index; ++j) {
      const double share = innerProduct(index, j);
      forEachElement([&](uint64_t i) {
        float &value = vectors[index * length + i];
        value = float(double(value) - share * double(vectors[j * length + i]));
      });
    }
  }

  const Crew &crew;
  float *vectors;
  uint32_t count;
  uint64_t length;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_ORTHONORMAL_H
