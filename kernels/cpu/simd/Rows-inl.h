//===-- Rows-inl.h - Rows of 32 elements, and their bits --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Families whose payloads are bit planes, or bytes in order, share these rows of 32 elements, in which random
// numbers also come.

#if defined(CGX_KERNELS_CPU_SIMD_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_ROWS
#undef CGX_KERNELS_CPU_SIMD_ROWS
#else
#define CGX_KERNELS_CPU_SIMD_ROWS
#endif

#include "../Buckets.h"
#include "Random-inl.h"
#include "Sinks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

using FloatMask = hn::Mask<Floats>;
using WordMask = hn::Mask<Words>;

template <Source source> using SourceTag = std::integral_constant<Source, source>;

/// Calls encode(SourceTag<source>()).
template <class Encode> void withSource(Source source, Encode encode) {
  switch (source) {
  case Source::f32:
    return encode(SourceTag<Source::f32>());
  case Source::f16:
    return encode(SourceTag<Source::f16>());
  case Source::bf16:
    return encode(SourceTag<Source::bf16>());
  case Source::f32ToF16:
    return encode(SourceTag<Source::f32ToF16>());
  case Source::f32ToBf16:
    return encode(SourceTag<Source::f32ToBf16>());
  }
}

/// Returns a mask as bits, with lane 0 lowest.
HWY_INLINE uint32_t bitsOfMask(FloatMask mask) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return mask.raw;
#else
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(Floats(), mask, bytes);
  return bytes[0] | uint32_t(bytes[1]) << 8;
#endif
}

/// Returns the mask of the lowest bits.
HWY_INLINE FloatMask maskOfBits(uint32_t bits) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return FloatMask{static_cast<decltype(FloatMask::raw)>(bits)};
#else
  const uint8_t bytes[8] = {uint8_t(bits), uint8_t(bits >> 8)};
  return hn::LoadMaskBits(Floats(), bytes);
#endif
}

HWY_INLINE uint32_t loadRow(const uint8_t *plane, uint64_t element) {
  uint32_t bits;
  memcpy(&bits, plane + element / 8, sizeof bits);
  return bits;
}

HWY_INLINE void storeRow(uint8_t *plane, uint64_t element, uint32_t bits) {
  memcpy(plane + element / 8, &bits, sizeof bits);
}

HWY_INLINE WordVector magnitudesOf(FloatVector x) {
  return hn::And(hn::BitCast(Words(), x), hn::Set(Words(), 0x7fffffff));
}

/// Computes largestMagnitudeBits() of elements [begin, end).
template <Source source>
HWY_INLINE uint32_t largestMagnitude(const void *input, uint64_t begin, uint64_t end) {
  WordVector first = hn::Zero(Words()), second = first;
  uint64_t i = begin;
  for (; i + 2 * lanes <= end; i += 2 * lanes) {
    first = hn::Max(first, magnitudesOf(loadElements<source>(input, i)));
    second = hn::Max(second, magnitudesOf(loadElements<source>(input, i + lanes)));
  }
  const uint32_t inVectors = hn::GetLane(hn::MaxOfLanes(Words(), hn::Max(first, second)));
  const uint32_t behind = largestMagnitudeBits(source, input, i, end);
  return inVectors > behind ? inVectors : behind;
}

/// The random bits of a row: `low` for elements from c on, `high` for those from 16 + c on.
struct RandomRow {
  WordVector low, high;
};

HWY_INLINE RandomRow randomRow(const RandomCursor &random, uint64_t element, size_t c) {
  const WordVector counters = hn::Add(random.counters(element), hn::Set(Words(), uint32_t(c)));
  const WordVector words = randomWords(counters, random.twist());
  return RandomRow{hn::And(words, hn::Set(Words(), 0xffff)), hn::ShiftRight<16>(words)};
}

/// The distance at which encoding prefetches its input.
constexpr uint64_t rowPrefetchBytes = 4096;

/// Prefetches the row `rowPrefetchBytes` after that at `index`.
template <Source source> HWY_INLINE void prefetchRow(const void *input, uint64_t index) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(input) + index * bytesOf(source) + rowPrefetchBytes;
  hwy::Prefetch(reinterpret_cast<const char *>(at));
  if constexpr (bytesOf(source) == 4)
    hwy::Prefetch(reinterpret_cast<const char *>(at + 64));
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
