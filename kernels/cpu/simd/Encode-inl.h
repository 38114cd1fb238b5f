//===-- Encode-inl.h - Quantize in vectors ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two ways. Whole segments of f32, in buckets of a multiple of 32 elements, go through
// registers: measure a few buckets, which then lie in the first-level cache, and
// quantize and pack them. Everything else goes through a buffer of fixed-point levels, a
// chunk at a time: other element types, other buckets, ends, and segments with a bucket
// that the plain map does not fit.

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

/// Elements that go through the buffer at a time: whole blocks of every width.
constexpr uint64_t chunkElements = 2048;
/// Buckets of a segment share a measuring pass; longer buckets than this go through the
/// buffer, one by one, as they do not stay in the first-level cache anyway.
constexpr uint64_t maxSegmentBucket = 4096;
constexpr uint64_t maxSegmentBuckets = 16;

/// Fixed point with the rounding's half, if it has one, added in the same operation.
HWY_INLINE WordVector fixedPoint(FloatVector distance, FloatVector factor, FloatVector magic) {
  return hn::BitCast(Words(), hn::MulAdd(distance, factor, magic));
}

/// fixedPointMagic plus half a level for nearest rounding: both are whole numbers of last places, so
/// the sum is what adding the half afterwards gives.
HWY_INLINE float magicOf(const cgx_codec &codec) {
  return codec.rounding == CGX_ROUND_NEAREST ? fixedPointMagic + float(1u << (15u - codec.bits))
                                             : fixedPointMagic;
}

/// The rows of a block of f32, quantized.
template <uint32_t bits, bool stochastic, bool oneBucket> struct QuantizedRows {
  const float *HWY_RESTRICT input;
  const float *minimums; ///< of each row, or one if the block is of one bucket
  const float *factors;
  WordVector counters;
  uint32_t twist;

  template <uint32_t row> HWY_INLINE HalfVector makeRow(size_t c) const {
    const Floats floats;
    const Words words;
    const FloatVector magic =
        hn::Set(floats, stochastic ? fixedPointMagic : fixedPointMagic + float(1u << (15u - bits)));
    const FloatVector minimum = hn::Set(floats, minimums[oneBucket ? 0 : row]);
    const FloatVector factor = hn::Set(floats, factors[oneBucket ? 0 : row]);
    const FloatVector low = hn::LoadU(floats, input + row * 32 + c);
    const FloatVector high = hn::LoadU(floats, input + row * 32 + 16 + c);
    HalfVector fixed = mergeHalves(fixedPoint(hn::Sub(low, minimum), factor, magic),
                                   fixedPoint(hn::Sub(high, minimum), factor, magic));
    if constexpr (stochastic) {
      const WordVector random = randomWords(hn::Add(counters, hn::Set(words, uint32_t(row * 16 + c))), twist);
      fixed = hn::Add(fixed, hn::ShiftRight<bits>(hn::BitCast(Halves(), random)));
    }
    return fixed;
  }
};

/// The rows of a block that lies in the buffer.
struct BufferedRows {
  const uint16_t *HWY_RESTRICT buffer;

  template <uint32_t row> HWY_INLINE HalfVector makeRow(size_t c) const {
    const WordVector low = hn::PromoteTo(Words(), hn::LoadU(NarrowHalves(), buffer + row * 32 + c));
    const WordVector high = hn::PromoteTo(Words(), hn::LoadU(NarrowHalves(), buffer + row * 32 + 16 + c));
    return mergeHalves(low, high);
  }
};

/// Fixed-point levels of elements [begin, end) of one bucket.
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
    const uint32_t half = codec.rounding == CGX_ROUND_NEAREST ? 1u << (15u - codec.bits) : 0u;
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
    const uint64_t at = i + lanes <= count ? i : count - lanes; // the last vector overlaps the one before
    const FloatVector distance = hn::MulAdd(loadElements<source>(input, begin + at), prescale, shift);
    hn::StoreU(hn::TruncateTo(NarrowHalves(), fixedPoint(distance, factor, magic)), NarrowHalves(), out + at);
  }
}

/// The random fractions of the 32 elements from `element`, a multiple of 32, in order.
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
void addRandom(RandomCursor &random, uint64_t element, uint64_t count, uint32_t bits, uint16_t *levels) {
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

/// Packs the levels of less than a block, densely.
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

/// Encodes elements [begin, end) through the buffer. `begin` starts a block and a bucket; `end` ends
/// a block, or the payload.
template <uint32_t bits, Source source>
void encodeBuffered(const QuantizeEncodeArguments &arguments, RandomCursor &random, uint64_t begin,
                    uint64_t end) {
  const cgx_codec &codec = *arguments.codec;
  constexpr uint64_t blockElements = packingBlockElements(bits);
  HWY_ALIGN uint16_t buffer[chunkElements];
  uint64_t bucket = begin / codec.bucket, bucketEnd = begin;
  BucketScale scale = {};
  for (uint64_t chunk = begin; chunk < end; chunk += chunkElements) {
    const uint64_t count = end - chunk < chunkElements ? end - chunk : chunkElements;
    for (uint64_t i = chunk; i < chunk + count;) {
      if (i == bucketEnd) {
        bucketEnd = arguments.elements - i < codec.bucket ? arguments.elements : i + codec.bucket;
        scale = measureBucket<source>(codec, arguments.input, i, bucketEnd);
        storeScale(arguments.scales, codec.scale, bucket++, scale);
      }
      const uint64_t runEnd = bucketEnd < chunk + count ? bucketEnd : chunk + count;
      fillRun<source>(codec, scale, arguments.input, i, runEnd, buffer + (i - chunk));
      i = runEnd;
    }
    if (codec.rounding == CGX_ROUND_STOCHASTIC)
      addRandom(random, arguments.firstElement + chunk, count, bits, buffer);
    uint8_t *out = arguments.levels + chunk / 8 * bits;
    uint64_t packed = 0;
    for (; packed + blockElements <= count; packed += blockElements)
      packBlock<bits>(BufferedRows{buffer + packed}, out + packed / 8 * bits);
    if (packed < count)
      packDense(buffer + packed, count - packed, bits, out + packed / 8 * bits);
  }
}

/// Buckets of a segment: whole blocks, and measured in fours. 0 if this bucket goes through the buffer.
inline uint64_t segmentBuckets(uint64_t bucket, uint64_t blockElements) {
  if (bucket % 32 != 0 || bucket > maxSegmentBucket)
    return 0;
  uint64_t buckets = 4;
  while (buckets * bucket % blockElements != 0)
    buckets += 4;
  return buckets;
}

/// Quantizes and packs the blocks of a segment whose buckets have been measured.
template <uint32_t bits, bool stochastic, bool oneBucket>
HWY_INLINE void encodeSegment(const QuantizeEncodeArguments &arguments, const RandomCursor &random,
                              uint64_t begin, uint64_t elements, const float *minimums,
                              const float *factors) {
  constexpr uint64_t blockElements = packingBlockElements(bits);
  const uint64_t bucket = arguments.codec->bucket;
  const float *input = static_cast<const float *>(arguments.input) + begin;
  uint8_t *out = arguments.levels + begin / 8 * bits;
  for (uint64_t i = 0, bucketEnd = bucket; i < elements; i += blockElements, out += packingBlockBytes(bits)) {
    if (oneBucket && i == bucketEnd) {
      bucketEnd += bucket;
      ++minimums;
      ++factors;
    }
    packBlock<bits>(
        QuantizedRows<bits, stochastic, oneBucket>{input + i, minimums, factors,
                                                   random.counters(arguments.firstElement + begin + i),
                                                   random.twist()},
        out);
    if (!oneBucket) {
      minimums += packingRows(bits);
      factors += packingRows(bits);
    }
  }
}

/// Repeats each bucket's value for each of its rows.
HWY_INLINE void spreadToRows(const float *values, uint64_t buckets, uint64_t rowsPerBucket, float *rows) {
  for (uint64_t b = 0; b < buckets; ++b)
    for (uint64_t r = 0; r < rowsPerBucket; ++r)
      *rows++ = values[b];
}

template <uint32_t bits, bool stochastic, bool oneBucket>
void encodeF32(const QuantizeEncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  RandomCursor random(arguments.key);
  const uint64_t buckets =
      arguments.firstElement % 32 == 0 ? segmentBuckets(codec.bucket, packingBlockElements(bits)) : 0;
  const uint64_t segment = buckets * codec.bucket;
  const uint64_t scaleBytes = codec.scale == CGX_SCALE_F32 ? 8 : 4;
  HWY_ALIGN float minimums[maxSegmentBuckets], factors[maxSegmentBuckets];
  float rowMinimums[oneBucket ? 1 : maxSegmentBuckets * maxSegmentBucket / 32],
      rowFactors[oneBucket ? 1 : maxSegmentBuckets * maxSegmentBucket / 32];
  uint64_t begin = 0;
  for (; buckets != 0 && begin + segment <= arguments.elements; begin += segment) {
    const float *input = static_cast<const float *>(arguments.input) + begin;
    uint8_t *scales = arguments.scales + begin / codec.bucket * scaleBytes;
    bool plain = random.seek(arguments.firstElement + begin, segment);
    for (uint64_t b = 0; b < buckets; b += 4)
      plain &= measureFourBuckets(codec, input + b * codec.bucket, scales + b * scaleBytes, minimums + b,
                                  factors + b);
    if (HWY_UNLIKELY(!plain)) {
      encodeBuffered<bits, Source::f32>(arguments, random, begin, begin + segment);
      continue;
    }
    if (oneBucket) {
      encodeSegment<bits, stochastic, true>(arguments, random, begin, segment, minimums, factors);
    } else {
      spreadToRows(minimums, buckets, codec.bucket / 32, rowMinimums);
      spreadToRows(factors, buckets, codec.bucket / 32, rowFactors);
      encodeSegment<bits, stochastic, false>(arguments, random, begin, segment, rowMinimums, rowFactors);
    }
  }
  if (begin < arguments.elements)
    encodeBuffered<bits, Source::f32>(arguments, random, begin, arguments.elements);
}

template <uint32_t bits, Source source> void encodeOther(const QuantizeEncodeArguments &arguments) {
  RandomCursor random(arguments.key);
  encodeBuffered<bits, source>(arguments, random, 0, arguments.elements);
}

template <uint32_t bits> void encodeBits(const QuantizeEncodeArguments &arguments) {
  switch (arguments.source) {
  case Source::f16:
    return encodeOther<bits, Source::f16>(arguments);
  case Source::bf16:
    return encodeOther<bits, Source::bf16>(arguments);
  case Source::f32ToF16:
    return encodeOther<bits, Source::f32ToF16>(arguments);
  case Source::f32ToBf16:
    return encodeOther<bits, Source::f32ToBf16>(arguments);
  case Source::f32:
    break;
  }
  const bool stochastic = arguments.codec->rounding == CGX_ROUND_STOCHASTIC;
  if (arguments.codec->bucket % packingBlockElements(bits) == 0)
    return stochastic ? encodeF32<bits, true, true>(arguments) : encodeF32<bits, false, true>(arguments);
  return stochastic ? encodeF32<bits, true, false>(arguments) : encodeF32<bits, false, false>(arguments);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
