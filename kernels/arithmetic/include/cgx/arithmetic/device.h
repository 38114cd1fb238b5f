//===-- device.h - Functions for host and device ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code in this folder that a GPU runs is marked CGX_DEVICE_INLINE, so that a CUDA kernel and a plain loop run
// the same code. On the host it is always inlined: the SIMD files compile it for their own instruction set,
// and an out-of-line copy could be taken from any of them.
#ifndef CGX_ARITHMETIC_DEVICE_H
#define CGX_ARITHMETIC_DEVICE_H

#if defined(__CUDACC__)
#define CGX_DEVICE_INLINE __host__ __device__ __forceinline__
#else
#define CGX_DEVICE_INLINE inline __attribute__((always_inline))
#endif

#include <stdint.h>
#include <string.h>

namespace cgx {

CGX_DEVICE_INLINE uint32_t floatBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

CGX_DEVICE_INLINE float floatFromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Returns a * b + c with one rounding on every machine: by an instruction where there is one, else by the C
/// library.
CGX_DEVICE_INLINE float fusedMultiplyAdd(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

/// Reads a value. On the host it may lie anywhere. On a GPU it must be aligned and in global memory, not in
/// memory that a block shares: so loads are as wide as the type.
template <typename T> CGX_DEVICE_INLINE T loadFrom(const void *address) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(address));
  return *static_cast<const T *>(address);
#else
  T value;
  memcpy(&value, address, sizeof value);
  return value;
#endif
}

/// Writes a value; the same rules as for loadFrom() hold.
template <typename T> CGX_DEVICE_INLINE void storeTo(void *address, T value) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(address));
  *static_cast<T *>(address) = value;
#else
  memcpy(address, &value, sizeof value);
#endif
}

CGX_DEVICE_INLINE bool isFinite(float value) { return (floatBits(value) & 0x7f800000u) != 0x7f800000u; }

} // namespace cgx

#endif // CGX_ARITHMETIC_DEVICE_H
