//===-- Encode-inl.h - Quantize through a buffer ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are two ways to encode. Whole segments in buckets of a multiple of 32 elements go through registers
// (Segments-inl.h). Everything else goes through a buffer of fixed-point levels, a chunk at a time: other
// buckets, ends, and segments with a bucket that does not fit the plain map.

#if defined(CGX_KERNELS_CPU_SIMD_ENCODE) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_ENCODE
#undef CGX_KERNELS_CPU_SIMD_ENCODE
#else
#define CGX_KERNELS_CPU_SIMD_ENCODE
#endif

#include "Buckets-inl.h"
#include "Packing-inl.h"
#include "Random-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// The number of elements that go through the buffer at a time, which makes whole blocks of every width.
constexpr uint64_t chunkElements = 2048;

/// Computes fixed point. `magic` may include half a level, which rounds in the same operation.
HWY_INLINE WordVector fixedPoint(FloatVector distance, FloatVector factor, FloatVector magic) {
  return hn::BitCast(Words(), hn::MulAdd(distance, factor, magic));
}

/// Returns fixedPointMagic, plus half a level for rounding to the nearest. Both are whole numbers of last
/// places, so the sum equals adding the half afterwards.
HWY_INLINE float magicOf(const cgx_codec &codec) {
  return codec.rounding != CGX_ROUND_STOCHASTIC ? fixedPointMagic + float(1u << (15u - codec.bits))
                                                : fixedPointMagic;
}

/// The rows of a block that is in the buffer.
struct BufferedRows {
  const uint16_t *HWY_RESTRICT buffer;

  template <uint32_t row> HWY_INLINE HalfVector makeRow(size_t c) const {
    const WordVector low = hn::PromoteTo(Words(), hn::LoadU(NarrowHalves(), buffer + row * 32 + c));
    const WordVector high = hn::PromoteTo(Words(), hn::LoadU(NarrowHalves(), buffer + row * 32 + 16 + c));
    return mergeHalves(low, high);
  }
};

/// Computes fixed-point levels of elements [begin, end) of one bucket.
template <Source source>
void fillRun(const cgx_codec &codec, BucketScale scale, const void *input, uint64_t begin, uint64_t end,
             uint16_t *out) {
  const uint64_t count = end - begin;
  if (!isFiniteScale(scale)) {
    memset(out, 0, count * sizeof *out);
    return;
  }
  const FixedPointMap map = makeFixedPointMap(scale, codec.bits);
  if (count < lanes) {
    const uint32_t half = codec.rounding != CGX_ROUND_STOCHASTIC ? 1u << (15u - codec.bits) : 0u;
    for (uint64_t i = 0; i < count; ++i)
      out[i] = uint16_t(cgx::fixedPoint(map, loadElement(source, input, begin + i)) + half);
    return;
  }
  const Floats floats;
  const FloatVector magic = hn::Set(floats, magicOf(codec));
  const FloatVector prescale = hn::Set(floats, map.prescale);
  const FloatVector shift = hn::Set(floats, map.shift);
  const FloatVector factor = hn::Set(floats, map.factor);
  for (uint64_t i = 0; i < count; i += lanes) {
    const uint64_t at = i + lanes <= count ? i : count - lanes; // the last vector overlaps the one before it
    const FloatVector distance = hn::MulAdd(loadElements<source>(input, begin + at), prescale, shift);
    hn::StoreU(hn::TruncateTo(NarrowHalves(), fixedPoint(distance, factor, magic)), NarrowHalves(), out + at);
  }
}

/// Draws the random fractions of the 32 elements from `element` on, a multiple of 32, in order.
HWY_INLINE void randomFractions(RandomCursor &random, uint64_t element, uint32_t bits, uint16_t *out) {
  random.seek(element, 32);
  const NarrowHalves narrow;
  for (size_t c = 0; c < rowLanes; c += lanes) {
    const WordVector counters = hn::Add(random.counters(element), hn::Set(Words(), uint32_t(c)));
    const WordVector words = randomWords(counters, random.twist());
    const WordVector low = hn::And(words, hn::Set(Words(), 0xffff));
    hn::StoreU(hn::TruncateTo(narrow, hn::ShiftRightSame(low, int(bits))), narrow, out + c);
    hn::StoreU(hn::TruncateTo(narrow, hn::ShiftRightSame(words, int(16 + bits))), narrow, out + 16 + c);
  }
}

/// Adds random fractions to the levels of elements [element, element + count).
inline void addRandom(RandomCursor &random, uint64_t element, uint64_t count, uint32_t bits,
                      uint16_t *levels) {
  HWY_ALIGN uint16_t row[32];
  const hn::CappedTag<uint16_t, 32> halves;
  uint64_t i = 0;
  while (i < count) {
    const uint64_t skip = (element + i) % 32;
    const uint64_t take = count - i < 32 - skip ? count - i : 32 - skip;
    randomFractions(random, element + i - skip, bits, row);
    if (take == 32) {
      for (size_t k = 0; k < 32; k += hn::Lanes(halves))
        hn::StoreU(hn::Add(hn::LoadU(halves, levels + i + k), hn::Load(halves, row + k)), halves,
                   levels + i + k);
    } else {
      for (uint64_t k = 0; k < take; ++k)
        levels[i + k] = uint16_t(levels[i + k] + row[skip + k]);
    }
    i += take;
  }
}

/// Packs the levels of less than a block without gaps.
inline void packDense(const uint16_t *levels, uint64_t count, uint32_t bits, uint8_t *out) {
  uint32_t pending = 0, have = 0;
  for (uint64_t i = 0; i < count; ++i) {
    pending |= uint32_t(levels[i] >> (16 - bits)) << have;
    for (have += bits; have >= 8; have -= 8, pending >>= 8)
      *out++ = uint8_t(pending);
  }
  if (have > 0)
    *out = uint8_t(pending);
}

/// Packs a chunk. Only the payload's last chunk may end inside a block.
template <uint32_t bits> void packBuffer(const uint16_t *buffer, uint64_t count, uint8_t *out) {
  constexpr uint64_t blockElements = packingBlockElements(bits);
  for (; count >= blockElements;
       count -= blockElements, buffer += blockElements, out += packingBlockBytes(bits))
    packBlock<bits>(BufferedRows{buffer}, out);
  packDense(buffer, count, bits, out);
}

using PackBuffer = void (*)(const uint16_t *buffer, uint64_t count, uint8_t *out);

/// Encodes elements [begin, end) through the buffer. `begin` starts a block and a bucket; `end` ends
/// a block, or the payload.
template <Source source>
void encodeBuffered(const QuantizeEncodeArguments &arguments, RandomCursor &random, PackBuffer pack,
                    uint64_t begin, uint64_t end) {
  const cgx_codec &codec = *arguments.codec;
  HWY_ALIGN uint16_t buffer[chunkElements];
  uint64_t bucket = begin / codec.bucket, bucketEnd = begin;
  BucketScale scale = {};
  for (uint64_t chunk = begin; chunk < end; chunk += chunkElements) {
    const uint64_t count = end - chunk < chunkElements ? end - chunk : chunkElements;
    for (uint64_t i = chunk; i < chunk + count;) {
      if (i == bucketEnd) {
        bucketEnd = arguments.elements - i < codec.bucket ? arguments.elements : i + codec.bucket;
        scale = measureBucket<source>(arguments, i, bucketEnd);
        storeScale(arguments.scales, codec, bucket++, scale);
      }
      const uint64_t runEnd = bucketEnd < chunk + count ? bucketEnd : chunk + count;
      fillRun<source>(codec, scale, arguments.input, i, runEnd, buffer + (i - chunk));
      i = runEnd;
    }
    if (codec.rounding == CGX_ROUND_STOCHASTIC)
      addRandom(random, arguments.firstElement + chunk, count, codec.bits, buffer);
    pack(buffer, count, arguments.levels + chunk / 8 * codec.bits);
  }
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
