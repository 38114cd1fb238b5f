//===-- eden.h - Arithmetic of a bucket of eden -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// EDEN (Vargaftik et al. 2022) rotates a bucket at random, which makes its elements about normally
// distributed, and takes for each the nearest of levels that were fitted to that distribution. It chooses the
// scale that makes the error orthogonal to the bucket, so the estimate is unbiased although no element is
// rounded at random. Two rotations, each by random signs and a Hadamard transform, are needed for buckets
// that are nearly empty: after one, a bucket with two elements has only two magnitudes, and every seed makes
// the same error.
//
// The order of all additions is fixed, so that vectors give the same bits.
#ifndef CGX_ARITHMETIC_EDEN_H
#define CGX_ARITHMETIC_EDEN_H

#include "cgx/arithmetic/eden_levels.h"
#include "cgx/arithmetic/hadamard.h"
#include "cgx/arithmetic/magnitude.h"
#include "cgx/codec.h"

namespace cgx {

/// The number of elements whose signs are drawn together.
constexpr uint64_t edenSignElements = 64;

/// Returns the seed of a payload. It advances with the position, so that a part draws the signs that the
/// whole would draw for it.
CGX_DEVICE_INLINE uint64_t edenSeed(RandomKey key, uint64_t firstElement) {
  return key.value + firstElement / edenSignElements * 0x9e3779b97f4a7c15ull;
}

/// The elements among 64 that change their sign before each of the two rotations, one bit each.
struct EdenSigns {
  uint64_t first, second;
};
CGX_DEVICE_INLINE EdenSigns edenSigns(uint64_t seed, uint64_t element) {
  constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;
  const uint64_t first = mixBits(seed + (element / edenSignElements + 1) * golden);
  return {first, mixBits(first + golden)};
}

/// Returns the power of two by which a bucket is multiplied. It brings the largest magnitude to [2, 4) as far
/// as f32 allows, so that no sum overflows.
CGX_DEVICE_INLINE float edenPrescale(uint32_t largestBits) {
  const uint32_t exponent = largestBits >> 23;
  return floatFromBits((255u - (exponent < 2u ? 2u : exponent)) << 23);
}

/// Adds up 16 sums by folding upper halves onto lower ones.
CGX_DEVICE_INLINE float foldEdenLanes(float *lanes) {
  for (uint32_t half = 8; half > 0; half /= 2)
    for (uint32_t lane = 0; lane < half; ++lane)
      lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// Returns the factor that gives rotated elements variance 1. `squares` is the sum of their squares.
CGX_DEVICE_INLINE float edenFactor(float squares, float inverseLength) {
  return 1.0f / std::sqrt(squares * inverseLength);
}

/// Returns the scale of a bucket. `product` is the inner product of the rotated elements with their levels.
CGX_DEVICE_INLINE float edenScale(float squares, float product, float inverseLength, float prescale) {
  // The product is above 0 because every level is.
  const float scale = squares / product * inverseLength / prescale;
  return isFinite(scale) ? scale : largestValue(CGX_F32);
}

/// Returns a scale as its type holds it. bf16 is rounded at random, because rounding to the nearest would be
/// a bias.
CGX_DEVICE_INLINE float roundEdenScale(float scale, uint32_t scaleType, uint16_t random) {
  if (scaleType == CGX_SCALE_F32)
    return scale;
  const uint32_t bits = (floatBits(scale) + random) & 0xffff0000u;
  return floatFromBits(bits < infinityBits ? bits : infinityBits - 0x10000u);
}

/// Returns the code of a rotated element: the number of its level, with the sign above it.
CGX_DEVICE_INLINE uint32_t edenCode(const float *levels, uint32_t bits, float x, float factor) {
  const float magnitude = floatFromBits(magnitudeBits(x)) * factor;
  return nearestNormalLevel(levels, bits, magnitude) | floatBits(x) >> 31 << (bits - 1u);
}

/// Returns the value of an element after the inverse rotation. The scale must be finite.
CGX_DEVICE_INLINE float edenValue(float x, float inverseLength, float scale, float limit) {
  const float value = x * inverseLength * scale;
  return value > limit ? limit : value < -limit ? -limit : value;
}

/// Rotates a bucket: changes signs and takes the Hadamard transform without its factor, twice.
inline void rotateEdenBucket(float *x, uint64_t begin, uint64_t length, uint64_t seed) {
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < length; ++i) {
      const EdenSigns signs = edenSigns(seed, begin + i);
      const uint64_t word = round == 0 ? signs.first : signs.second;
      x[i] = floatFromBits(floatBits(x[i]) ^ uint32_t(word >> i % edenSignElements & 1) << 31);
    }
    transformBlock(x, length);
  }
}

/// Undoes rotateEdenBucket().
inline void rotateEdenBucketBack(float *x, uint64_t begin, uint64_t length, uint64_t seed) {
  for (int round = 0; round < 2; ++round) {
    transformBlock(x, length);
    for (uint64_t i = 0; i < length; ++i) {
      const EdenSigns signs = edenSigns(seed, begin + i);
      const uint64_t word = round == 0 ? signs.second : signs.first;
      x[i] = floatFromBits(floatBits(x[i]) ^ uint32_t(word >> i % edenSignElements & 1) << 31);
    }
  }
}

} // namespace cgx

#endif // CGX_ARITHMETIC_EDEN_H
