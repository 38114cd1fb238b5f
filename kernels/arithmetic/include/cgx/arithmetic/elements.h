//===-- elements.h - Elements of a buffer as f32 ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These functions access one element at a time, for loops that are not vectorized.
#ifndef CGX_ARITHMETIC_ELEMENTS_H
#define CGX_ARITHMETIC_ELEMENTS_H

#include "cgx/arithmetic/float16.h"
#include "cgx/codec.h"

namespace cgx {

/// The representation in memory of the elements to encode. The last two are an f32 accumulator that is
/// rounded to its element type as it is read.
enum class Source { f32, f16, bf16, f32ToF16, f32ToBf16 };

/// Returns the bytes of an element in memory.
constexpr uint64_t bytesOf(Source source) { return source == Source::f16 || source == Source::bf16 ? 2 : 4; }

/// Returns how elements of a type lie in memory; sumSourceOf() returns it for sums that become such elements.
constexpr Source sourceOf(cgx_element_type type) {
  return type == CGX_F16 ? Source::f16 : type == CGX_BF16 ? Source::bf16 : Source::f32;
}
constexpr Source sumSourceOf(cgx_element_type type) {
  return type == CGX_F16 ? Source::f32ToF16 : type == CGX_BF16 ? Source::f32ToBf16 : Source::f32;
}

CGX_DEVICE_INLINE uint16_t loadBits16(const void *buffer, uint64_t index) {
  return loadFrom<uint16_t>(static_cast<const char *>(buffer) + index * 2);
}

CGX_DEVICE_INLINE float loadF32(const void *buffer, uint64_t index) {
  return loadFrom<float>(static_cast<const char *>(buffer) + index * 4);
}

CGX_DEVICE_INLINE float loadElement(Source source, const void *buffer, uint64_t index) {
  switch (source) {
  case Source::f32:
    return loadF32(buffer, index);
  case Source::f16:
    return floatFromFloat16(loadBits16(buffer, index));
  case Source::bf16:
    return floatFromBfloat16(loadBits16(buffer, index));
  case Source::f32ToF16:
    return floatFromFloat16(float16FromFloat(loadF32(buffer, index)));
  case Source::f32ToBf16:
    return floatFromBfloat16(bfloat16FromFloat(loadF32(buffer, index)));
  }
  return 0.0f;
}

/// Stores a value as an element of f32, f16 or bf16.
CGX_DEVICE_INLINE void storeElement(cgx_element_type type, void *buffer, uint64_t index, float value) {
  char *bytes = static_cast<char *>(buffer);
  if (type == CGX_F32)
    return storeTo(bytes + index * 4, value);
  storeTo(bytes + index * 2, type == CGX_F16 ? float16FromFloat(value) : bfloat16FromFloat(value));
}

} // namespace cgx

#endif // CGX_ARITHMETIC_ELEMENTS_H
