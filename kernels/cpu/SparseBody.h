//===-- kernels/cpu/SparseBody.h - Some elements, and the rest --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies of topk and randk begin with `rest`, an f32 that is the value of all elements that were not
// sent: 0, or NaN if some of them may not have been finite, so that no overflow stays unseen.
#ifndef CGX_KERNELS_CPU_SPARSEBODY_H
#define CGX_KERNELS_CPU_SPARSEBODY_H

#include "CodecFamily.h"
#include "cgx/arithmetic/magnitude.h"

#include <type_traits>

namespace cgx {

/// Calls visit(load) with a function for one source. The source is a constant of the loops below, so the
/// compiler can vectorize them.
template <typename Visit> auto withSource(Source source, Visit visit) {
  switch (source) {
  case Source::f32:
    return visit([](const void *input, uint64_t i) { return loadElement(Source::f32, input, i); });
  case Source::f16:
    return visit([](const void *input, uint64_t i) { return loadElement(Source::f16, input, i); });
  case Source::bf16:
    return visit([](const void *input, uint64_t i) { return loadElement(Source::bf16, input, i); });
  case Source::f32ToF16:
    return visit([](const void *input, uint64_t i) { return loadElement(Source::f32ToF16, input, i); });
  default:
    return visit([](const void *input, uint64_t i) { return loadElement(Source::f32ToBf16, input, i); });
  }
}

/// Calls take(i), in order, for the elements that meet a condition. Few elements should meet it, and vectors
/// should be able to test a block of elements.
template <typename IsWanted, typename Take>
void forEachWanted(uint64_t elements, const IsWanted &isWanted, const Take &take) {
  constexpr uint64_t block = 32;
  uint64_t begin = 0;
  for (; begin + block <= elements; begin += block) {
    uint32_t any = 0;
    for (uint64_t j = 0; j < block; ++j)
      any |= uint32_t(isWanted(begin + j));
    if (any)
      for (uint64_t i = begin; i < begin + block; ++i)
        if (isWanted(i))
          take(i);
  }
  for (; begin < elements; ++begin)
    if (isWanted(begin))
      take(begin);
}

inline void storeRest(uint8_t *body, bool allFinite) {
  const float rest = allFinite ? 0.0f : quietNan();
  memcpy(body, &rest, sizeof rest);
}

/// Returns the rest that a body states: 0 or NaN, whatever the bytes are.
inline float loadRest(const uint8_t *body) {
  float rest;
  memcpy(&rest, body, sizeof rest);
  return rest == 0.0f ? 0.0f : quietNan();
}

/// Decodes with forEachSent(take), which calls take(i, index) for the i-th value, which is that of element
/// `index`.
template <typename ForEachSent>
void storeSparse(const DecodeArguments &arguments, float rest, const uint8_t *values, void *output,
                 const ForEachSent &forEachSent) {
  const uint64_t size = cgx_element_bytes(arguments.type);
  if (rest == 0.0f)
    memset(output, 0, arguments.elements * size);
  else
    for (uint64_t i = 0; i < arguments.elements; ++i)
      storeElement(arguments.type, output, i, rest);
  // The size is a constant for the compiler, so that so small a copy is no call.
  const auto storeOf = [&](auto bytes) {
    forEachSent([&](uint64_t i, uint64_t index) {
      memcpy(static_cast<uint8_t *>(output) + index * bytes, values + i * bytes, bytes);
    });
  };
  if (size == 4)
    storeOf(std::integral_constant<uint64_t, 4>());
  else
    storeOf(std::integral_constant<uint64_t, 2>());
}

/// Adds to an accumulator in the same way. Elements that were not sent add nothing if the rest is 0.
template <typename ForEachSent>
void addSparse(const DecodeArguments &arguments, float rest, const uint8_t *values, float *accumulator,
               const ForEachSent &forEachSent) {
  if (rest != 0.0f)
    for (uint64_t i = 0; i < arguments.elements; ++i)
      accumulator[i] = rest;
  const Source source = arguments.type == CGX_F16    ? Source::f16
                        : arguments.type == CGX_BF16 ? Source::bf16
                                                     : Source::f32;
  forEachSent([&](uint64_t i, uint64_t index) { accumulator[index] += loadElement(source, values, i); });
}

} // namespace cgx

#endif // CGX_KERNELS_CPU_SPARSEBODY_H
