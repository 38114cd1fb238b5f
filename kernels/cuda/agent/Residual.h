//===-- Residual.h - Residuals in the memory of a GPU --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_RESIDUAL_H
#define CGX_KERNELS_CUDA_AGENT_RESIDUAL_H

#include "Descriptor.h"

namespace cgx::cuda {

CGX_AGENT float loadResidual(const KeptResidual &kept, uint64_t index) {
  switch (kept.storage) {
  case ResidualStorage::F32:
    return loadFrom<float>(static_cast<const float *>(kept.values) + index);
  case ResidualStorage::Bf16:
    return floatFromBfloat16(loadFrom<uint16_t>(static_cast<const uint16_t *>(kept.values) + index));
  case ResidualStorage::Int8:
    return valueOfInt8(loadFrom<int8_t>(static_cast<const int8_t *>(kept.values) + index),
                       loadFrom<float>(kept.scales + index / residualBlock));
  }
  return 0.0f;
}

/// Stores a loss. `scale` is that of the element's block, for Int8.
CGX_AGENT void storeResidual(const KeptResidual &kept, uint64_t index, float value, float scale) {
  switch (kept.storage) {
  case ResidualStorage::F32:
    return storeTo(static_cast<float *>(kept.values) + index, value);
  case ResidualStorage::Bf16:
    return storeTo(static_cast<uint16_t *>(kept.values) + index, keepAsBf16(value));
  case ResidualStorage::Int8:
    static_cast<int8_t *>(kept.values)[index] = keepAsInt8(value, scale);
  }
}

CGX_AGENT float largerMagnitude(float largest, float value) {
  const float magnitude = floatFromBits(magnitudeBits(value));
#if defined(__CUDA_ARCH__)
  return fmaxf(magnitude, largest); // prefers a number to a NaN, like the comparison below
#else
  return magnitude > largest ? magnitude : largest;
#endif
}

/// Converts a level of Int8 to float through the low bits of 2^23, because GPUs convert slowly.
CGX_AGENT float numberOfInt8(int8_t level) {
  return floatFromBits(floatBits(8388608.0f) | (uint8_t(level) ^ 0x80u)) - 8388736.0f;
}

/// Computes keepAsInt8() for many numbers with one scale. It multiplies by the reciprocal and corrects the
/// quotient twice by the remainder, which gives the bits of a division (Markstein) if nothing underflows on
/// the way. So number and scale are first multiplied by a power of two. Numbers that lose bits by that are
/// far below half a level.
struct Int8Divider {
  float power, scale, reciprocal, limit;

  CGX_AGENT explicit Int8Divider(float given) {
    const uint32_t exponent = floatBits(given) >> 23;
    power = exponent == 0 ? 0x1p126f : exponent == 254 ? 0x1p-127f : floatFromBits((254u - exponent) << 23);
    scale = given * power;
    if (given == 0.0f) { // a scale of 0 holds nothing
      power = 0.0f;
      scale = 1.0f;
    }
    reciprocal = 1.0f / scale;
    limit = 127.0f * scale;
  }

  CGX_AGENT int8_t levelOf(float value) const {
    constexpr float magic = 0x1.8p23f;
    const float x = value * power;
#if defined(__CUDA_ARCH__)
    const float held = fminf(fmaxf(x, -limit), limit);
#else
    const float held = x > limit ? limit : x < -limit ? -limit : x;
#endif
    float quotient = held * reciprocal;
    unrolled<2>([&](uint32_t) {
      quotient = fusedMultiplyAdd(fusedMultiplyAdd(-quotient, scale, held), reciprocal, quotient);
    });
    return int8_t(uint8_t(floatBits(quotient + magic)));
  }
};

/// Returns the scales of blocks of Int8 from the largest magnitudes that lanes have seen. Each block belongs
/// to `width` neighbouring lanes.
template <typename Warp>
CGX_AGENT PerLane<Warp, float> residualScales(const Warp &lanes, const KeptResidual &kept,
                                              PerLane<Warp, float> largest, uint32_t width) {
  if (kept.storage != ResidualStorage::Int8)
    return largest; // other storages do not read them
  largest = combineLanes(lanes, largest, width, [](float a, float b) { return b > a ? b : a; });
  lanes.forEach([&](uint32_t lane) { largest[lane] = residualScale(largest[lane]); });
  return largest;
}

CGX_AGENT void storeResidualScale(const KeptResidual &kept, uint64_t block, float scale) {
  if (kept.storage == ResidualStorage::Int8)
    kept.scales[block] = scale;
}

/// Replaces a block of a residual of `elements` elements by lossAt(i), which may read the residual. A warp
/// does so together.
template <typename Warp, typename LossAt>
CGX_AGENT void storeResidualBlock(const Warp &lanes, const KeptResidual &kept, uint64_t elements,
                                  uint64_t block, const LossAt &lossAt) {
  constexpr uint32_t rows = residualBlock / laneCount;
  const auto forEachElement = [&](uint32_t lane, const auto &visit) {
    unrolled<rows>([&](uint32_t row) {
      const uint64_t i = block * residualBlock + row * laneCount + lane;
      if (i < elements)
        visit(row, i);
    });
  };
  PerLane<Warp, float> losses[rows];
  PerLane<Warp, float> largest;
  lanes.forEach([&](uint32_t lane) {
    largest[lane] = 0.0f;
    forEachElement(lane, [&](uint32_t row, uint64_t i) {
      losses[row][lane] = lossAt(i);
      largest[lane] = largerMagnitude(largest[lane], losses[row][lane]);
    });
  });
  const PerLane<Warp, float> scale = residualScales(lanes, kept, largest, laneCount);
  lanes.forEach([&](uint32_t lane) {
    if (lane == 0)
      storeResidualScale(kept, block, scale[lane]);
    forEachElement(lane,
                   [&](uint32_t row, uint64_t i) { storeResidual(kept, i, losses[row][lane], scale[lane]); });
  });
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_RESIDUAL_H
