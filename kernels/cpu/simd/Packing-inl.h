//===-- Packing-inl.h - packing.h in vectors --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is built word by word: each row is shifted to its place in the columns' current word and merged by
// a mask. A level that does not fit continues in the next word.

#if defined(CGX_KERNELS_CPU_SIMD_PACKING) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_PACKING
#undef CGX_KERNELS_CPU_SIMD_PACKING
#else
#define CGX_KERNELS_CPU_SIMD_PACKING
#endif

#include "Vectors-inl.h"
#include "cgx/arithmetic/packing.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Merges rows from `row` on into the columns' words. `word` is the unfinished one.
template <uint32_t bits, uint32_t row, class RowSource>
HWY_INLINE void packRows(const RowSource &source, size_t c, HalfVector word, uint8_t *HWY_RESTRICT out) {
  if constexpr (row < packingRows(bits)) {
    constexpr uint32_t bit = row * bits, shift = bit % 16, end = shift + bits;
    const Halves halves;
    const HalfVector fixed = source.template makeRow<row>(c);
    if constexpr (shift == 0) {
      word = hn::ShiftRight<16 - bits>(fixed);
    } else if constexpr (end <= 16) {
      const HalfVector mask = hn::Set(halves, uint16_t(((1u << bits) - 1u) << shift));
      word = hn::OrAnd(word, end == 16 ? fixed : hn::ShiftRight<16 - (end < 16 ? end : 16)>(fixed), mask);
    } else {
      const HalfVector level = hn::ShiftRight<16 - bits>(fixed);
      word = hn::Or(word, hn::ShiftLeft<shift>(level));
      hn::StoreU(word, halves, reinterpret_cast<uint16_t *>(out + bit / 16 * 64) + c * 2);
      word = hn::ShiftRight<16 - shift>(level);
    }
    if constexpr (end == 16)
      hn::StoreU(word, halves, reinterpret_cast<uint16_t *>(out + bit / 16 * 64) + c * 2);
    packRows<bits, row + 1>(source, c, word, out);
  }
}

/// Packs one block. `source.makeRow<r>(c)` returns the merged 16-bit lanes of columns [2 * c, 2 * (c +
/// lanes)) of row r, each with its level in the top `bits` bits.
template <uint32_t bits, class RowSource>
HWY_INLINE void packBlock(const RowSource &source, uint8_t *HWY_RESTRICT out) {
  for (size_t c = 0; c < rowLanes; c += lanes)
    packRows<bits, 0>(source, c, hn::Zero(Halves()), out);
}

/// Extracts rows from `row` on from the columns' words.
template <uint32_t bits, uint32_t row, class RowSink>
HWY_INLINE void unpackRows(const uint8_t *HWY_RESTRICT in, size_t c, WordVector word, const RowSink &sink) {
  if constexpr (row < packingRows(bits)) {
    constexpr uint32_t bit = row * bits, shift = bit % 16, end = shift + bits;
    const Words words;
    const Halves halves;
    const WordVector mask = hn::Set(words, (1u << bits) - 1u);
    if constexpr (shift == 0)
      word = hn::LoadU(words, reinterpret_cast<const uint32_t *>(in + bit / 16 * 64) + c);
    if constexpr (end <= 16) {
      WordVector low = shift == 0 ? word : hn::ShiftRight<shift>(word);
      WordVector high = hn::ShiftRight<16 + shift>(word);
      // A sink that looks levels up in a periodic table ignores the upper bits of an index.
      if constexpr (!RowSink::takesDirtyLevels) {
        low = hn::And(low, mask);
        if constexpr (end < 16)
          high = hn::And(high, mask);
      }
      sink.template takeRow<row>(c, low, high);
    } else {
      const WordVector next =
          hn::LoadU(words, reinterpret_cast<const uint32_t *>(in + (bit / 16 + 1) * 64) + c);
      const HalfVector first = hn::ShiftRight<shift>(hn::BitCast(halves, word));
      const HalfVector second = hn::ShiftLeft<16 - shift>(hn::BitCast(halves, next));
      const WordVector both = hn::BitCast(words, hn::Or(first, second));
      sink.template takeRow<row>(c, hn::And(both, mask), hn::And(hn::ShiftRight<16>(both), mask));
      word = next;
    }
    unpackRows<bits, row + 1>(in, c, word, sink);
  }
}

/// Unpacks one block. `sink.takeRow<r>(c, low, high)` takes the levels of the low columns (elements from 32 *
/// r + c on) and of the high ones (16 elements further).
template <uint32_t bits, class RowSink>
HWY_INLINE void unpackBlock(const uint8_t *HWY_RESTRICT in, const RowSink &sink) {
  for (size_t c = 0; c < rowLanes; c += lanes)
    unpackRows<bits, 0>(in, c, hn::Zero(Words()), sink);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
