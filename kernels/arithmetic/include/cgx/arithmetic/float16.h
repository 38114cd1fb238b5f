//===-- float16.h - f16 and bf16 as bits ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These functions convert between f32 and the two 16-bit types, with the rounding fixed. Narrowing rounds to
// nearest even, overflows to infinity and keeps subnormals; a NaN becomes the quiet NaN of its sign with its
// leading payload bits. Instructions of x86 and Arm do exactly this. Instructions of GPUs round numbers alike
// but make one NaN of all NaNs, so on GPUs they convert only numbers.
#ifndef CGX_ARITHMETIC_FLOAT16_H
#define CGX_ARITHMETIC_FLOAT16_H

#include "cgx/arithmetic/device.h"

namespace cgx {

CGX_DEVICE_INLINE float floatFromBfloat16(uint16_t bits) { return floatFromBits(uint32_t(bits) << 16); }

CGX_DEVICE_INLINE uint16_t bfloat16FromFloat(float value) {
  uint32_t bits = floatBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return uint16_t(bits >> 16) | 0x0040u;
#if defined(__CUDA_ARCH__)
  uint16_t rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#else
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#endif
}

/// Returns the largest bf16 that is not above `value`; minus infinity if it is below all of them.
CGX_DEVICE_INLINE uint16_t bfloat16RoundDown(float value) {
  uint32_t bits = floatBits(value);
  bool away = (bits >> 31) != 0 && (bits & 0xffffu) != 0;
  return uint16_t((bits >> 16) + (away ? 1u : 0u));
}

/// Returns the smallest bf16 that is not below `value`; infinity if it is above all of them.
CGX_DEVICE_INLINE uint16_t bfloat16RoundUp(float value) {
  uint32_t bits = floatBits(value);
  bool away = (bits >> 31) == 0 && (bits & 0xffffu) != 0;
  return uint16_t((bits >> 16) + (away ? 1u : 0u));
}

/// Converts an f16 by integer arithmetic, for machines without an instruction for it.
CGX_DEVICE_INLINE float computeFloatFromFloat16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) // infinity, or a NaN made quiet
    return floatFromBits(sign | 0x7f800000u | (fraction << 13) | (fraction ? 0x00400000u : 0u));
  if (exponent == 0) // zero or subnormal: exact, fraction * 2^-24
    return floatFromBits(sign | floatBits(float(fraction) * 0x1p-24f));
  return floatFromBits(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

/// Converts an f16. It is unspecified which NaN a NaN becomes; on the host its payload is kept.
CGX_DEVICE_INLINE float numberFromFloat16(uint16_t half) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#else
  return computeFloatFromFloat16(half);
#endif
}

CGX_DEVICE_INLINE float floatFromFloat16(uint16_t half) {
#if defined(__CUDA_ARCH__)
  const uint32_t bits = half;
  const uint32_t nan = (bits & 0x8000u) << 16 | 0x7fc00000u | (bits & 0x3ffu) << 13;
  return (bits & 0x7fffu) > 0x7c00u ? floatFromBits(nan) : numberFromFloat16(half);
#else
  return computeFloatFromFloat16(half);
#endif
}

CGX_DEVICE_INLINE uint16_t float16FromFloat(float value) {
  uint32_t bits = floatBits(value);
  uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
#if defined(__CUDA_ARCH__)
  uint16_t rounded;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#else
  if (magnitude >= 0x477ff000u) // 65520, half-way to the first value that does not fit
    return uint16_t(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { // below 2^-14: units of 2^-24, rounded by adding 2^23 of them
    float shifted = floatFromBits(magnitude) + 0.5f;
    return uint16_t(sign | (floatBits(shifted) - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
#endif
}

/// Converts two floats to f16 or bf16, the first one in the lower half. It is unspecified which NaN a NaN
/// becomes.
template <bool isBfloat> CGX_DEVICE_INLINE uint32_t pairOfNumbers(float first, float second) {
#if defined(__CUDA_ARCH__)
  uint32_t both;
  if constexpr (isBfloat)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
#else
  return isBfloat ? bfloat16FromFloat(first) | uint32_t(bfloat16FromFloat(second)) << 16
                  : float16FromFloat(first) | uint32_t(float16FromFloat(second)) << 16;
#endif
}

/// Converts two floats to f16 or bf16, each like float16FromFloat() or bfloat16FromFloat().
template <bool isBfloat> CGX_DEVICE_INLINE uint32_t pairOfFloats(float first, float second) {
#if defined(__CUDA_ARCH__)
  if (__builtin_expect(!(first <= second || first >= second), 0)) // one is a NaN
    return isBfloat ? bfloat16FromFloat(first) | uint32_t(bfloat16FromFloat(second)) << 16
                    : float16FromFloat(first) | uint32_t(float16FromFloat(second)) << 16;
#endif
  return pairOfNumbers<isBfloat>(first, second);
}

} // namespace cgx

#endif // CGX_ARITHMETIC_FLOAT16_H
