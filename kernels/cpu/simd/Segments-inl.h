//===-- Segments-inl.h - Quantize segments through registers ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment is a few buckets that are measured together and then quantized and packed while they are in the
// first-level cache. The next segment is measured before this one is quantized: while its elements come from
// memory, there is work on elements that have arrived. Quantizing also prefetches what is measured a few
// segments later, because measuring is a burst of loads, and the hardware's own prefetcher goes idle between
// two bursts. ReadAhead.h measures the best distance.

#if defined(CGX_KERNELS_CPU_SIMD_SEGMENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_SEGMENTS
#undef CGX_KERNELS_CPU_SIMD_SEGMENTS
#else
#define CGX_KERNELS_CPU_SIMD_SEGMENTS
#endif

#include "Encode-inl.h"
#include "ReadAhead.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// The limits of a segment. A longer bucket may be a segment of its own if none of its elements are kept.
constexpr uint64_t maxSegmentElements = 8192;
constexpr uint64_t maxSegmentBuckets = 16;
/// The longest segment that is measured ahead: two longer ones would not fit the cache.
constexpr uint64_t maxAheadElements = 2048;

/// The division of a payload into segments; with 0 buckets it is not divided.
struct SegmentPlan {
  uint64_t buckets;
  uint64_t elements;
  bool oneBucket; ///< every block of levels lies in one bucket
};

/// Returns how many buckets are measured together. They share divisions; but that matters less the longer
/// they are, and smaller segments keep memory busy more evenly.
constexpr uint64_t measuredTogether(uint64_t bucket) { return bucket < 512 ? 4 : bucket < 1024 ? 2 : 1; }

inline SegmentPlan planSegments(uint64_t bucket, uint64_t blockElements, bool keepsElements) {
  SegmentPlan plan = {0, 0, bucket % blockElements == 0};
  if (bucket % 32 != 0)
    return plan;
  const uint64_t step = measuredTogether(bucket);
  plan.buckets = step;
  while (plan.buckets * bucket % blockElements != 0)
    plan.buckets += step;
  plan.elements = plan.buckets * bucket;
  if (plan.elements > maxSegmentElements && (keepsElements || !plan.oneBucket))
    plan.buckets = 0;
  return plan;
}

/// The measures of a segment that quantizing it needs.
struct MeasuredSegment {
  static constexpr uint64_t rows = maxSegmentElements / 32;
  /// One entry for each bucket, or for each row if blocks have several buckets. Measuring writes at least
  /// four.
  HWY_ALIGN float minimums[rows + 4];
  HWY_ALIGN float factors[rows + 4];
  const float *values;
  uintptr_t ahead;                             ///< address to prefetch along with the first row
  uint64_t aheadRowBytes;                      ///< bytes of a row there
  bool plain;                                  ///< false if it was not measured and goes through the buffer
  HWY_ALIGN float widened[maxSegmentElements]; ///< holds `values` unless the source is f32
};

/// Repeats each bucket's value for each of its rows, in place, starting with the last.
inline void spreadToRows(float *values, uint64_t buckets, uint64_t rowsPerBucket) {
  for (uint64_t b = buckets; b-- > 0;) {
    const float value = values[b];
    for (uint64_t r = 0; r < rowsPerBucket; ++r)
      values[b * rowsPerBucket + r] = value;
  }
}

template <Source source, size_t vectors, uint64_t count>
HWY_INLINE void measureInGroups(const QuantizeEncodeArguments &arguments, const MeasuringPlan &plan,
                                uint64_t begin, uint64_t buckets, MeasuredSegment &segment) {
  uint8_t *scales = arguments.scales + begin / plan.bucket * plan.scaleBytes();
  segment.plain = true;
  for (uint64_t b = 0; b < buckets; b += count)
    segment.plain &= measureBuckets<source, vectors, count>(
        plan, arguments.input, begin + b * plan.bucket, segment.widened + b * plan.bucket,
        scales + b * plan.scaleBytes(), segment.minimums + b, segment.factors + b);
}

template <Source source, size_t vectors>
HWY_INLINE void measureSegmentBy(const QuantizeEncodeArguments &arguments, const MeasuringPlan &plan,
                                 uint64_t begin, uint64_t buckets, MeasuredSegment &segment) {
  switch (measuredTogether(plan.bucket)) {
  case 4:
    return measureInGroups<source, vectors, 4>(arguments, plan, begin, buckets, segment);
  case 2:
    return measureInGroups<source, vectors, 2>(arguments, plan, begin, buckets, segment);
  default:
    return measureInGroups<source, vectors, 1>(arguments, plan, begin, buckets, segment);
  }
}

template <Source source>
void measureSegment(const QuantizeEncodeArguments &arguments, const MeasuringPlan &plan,
                    const SegmentPlan &cut, uint64_t begin, uint32_t distance, MeasuredSegment &segment) {
  if (plan.bucket % 128 == 0)
    measureSegmentBy<source, 128 / lanes>(arguments, plan, begin, cut.buckets, segment);
  else
    measureSegmentBy<source, 32 / lanes>(arguments, plan, begin, cut.buckets, segment);
  if (!cut.oneBucket) {
    spreadToRows(segment.minimums, cut.buckets, plan.bucket / 32);
    spreadToRows(segment.factors, cut.buckets, plan.bucket / 32);
  }
  segment.aheadRowBytes = 32 * bytesOf(source);
  segment.ahead = reinterpret_cast<uintptr_t>(arguments.input) + begin * bytesOf(source) + distance;
  segment.values =
      source == Source::f32 ? static_cast<const float *>(arguments.input) + begin : segment.widened;
}

/// The rows of a block, which are quantized here.
template <uint32_t bits, bool stochastic, bool oneBucket> struct QuantizedRows {
  const float *HWY_RESTRICT values;
  const float *minimums; ///< one for each row, or one if the block lies in one bucket
  const float *factors;
  uintptr_t ahead;
  uint64_t aheadRowBytes;
  WordVector counters;
  uint32_t twist;

  template <uint32_t row> HWY_INLINE HalfVector makeRow(size_t c) const {
    const Floats floats;
    const FloatVector magic =
        hn::Set(floats, stochastic ? fixedPointMagic : fixedPointMagic + float(1u << (15u - bits)));
    const FloatVector minimum = hn::Set(floats, minimums[oneBucket ? 0 : row]);
    const FloatVector factor = hn::Set(floats, factors[oneBucket ? 0 : row]);
    if (c == 0) {
      hwy::Prefetch(reinterpret_cast<const char *>(ahead + row * aheadRowBytes));
      hwy::Prefetch(reinterpret_cast<const char *>(ahead + row * aheadRowBytes + 64));
    }
    const FloatVector low = hn::LoadU(floats, values + row * 32 + c);
    const FloatVector high = hn::LoadU(floats, values + row * 32 + 16 + c);
    HalfVector fixed = mergeHalves(fixedPoint(hn::Sub(low, minimum), factor, magic),
                                   fixedPoint(hn::Sub(high, minimum), factor, magic));
    if constexpr (stochastic) {
      const WordVector counter = hn::Add(counters, hn::Set(Words(), uint32_t(row * 16 + c)));
      fixed = hn::Add(fixed, hn::ShiftRight<bits>(hn::BitCast(Halves(), randomWords(counter, twist))));
    }
    return fixed;
  }
};

/// Quantizes and packs a measured segment. `firstElement` is the position of its first element in its tensor.
template <uint32_t bits, bool stochastic, bool oneBucket>
void quantizeSegment(const MeasuredSegment &segment, uint64_t elements, uint64_t bucket,
                     const RandomCursor &random, uint64_t firstElement, uint8_t *HWY_RESTRICT out) {
  constexpr uint64_t blockElements = packingBlockElements(bits);
  const float *minimums = segment.minimums, *factors = segment.factors, *values = segment.values;
  uintptr_t ahead = segment.ahead;
  for (uint64_t i = 0, bucketEnd = bucket; i < elements; i += blockElements) {
    if (oneBucket && i == bucketEnd) {
      bucketEnd += bucket;
      ++minimums;
      ++factors;
    }
    packBlock<bits>(QuantizedRows<bits, stochastic, oneBucket>{values + i, minimums, factors, ahead,
                                                               segment.aheadRowBytes,
                                                               random.counters(firstElement + i),
                                                               random.twist()},
                    out);
    out += packingBlockBytes(bits);
    ahead += packingRows(bits) * segment.aheadRowBytes;
    if (!oneBucket) {
      minimums += packingRows(bits);
      factors += packingRows(bits);
    }
  }
}

using QuantizeSegment = void (*)(const MeasuredSegment &segment, uint64_t elements, uint64_t bucket,
                                 const RandomCursor &random, uint64_t firstElement, uint8_t *out);

template <uint32_t bits> QuantizeSegment chooseQuantizeSegment(bool stochastic, bool oneBucket) {
  if (oneBucket)
    return stochastic ? quantizeSegment<bits, true, true> : quantizeSegment<bits, false, true>;
  return stochastic ? quantizeSegment<bits, true, false> : quantizeSegment<bits, false, false>;
}

/// Encodes a payload: whole segments through registers, the rest through the buffer.
template <Source source>
void encodeSource(const QuantizeEncodeArguments &arguments, const SegmentPlan &cut, QuantizeSegment quantize,
                  PackBuffer pack, ReadAhead &readAhead) {
  const cgx_codec &codec = *arguments.codec;
  const MeasuringPlan plan(codec);
  RandomCursor random(arguments.key);
  // Rows of random words start at multiples of 32 elements. Buckets with a norm or a random shift go through
  // the buffer.
  const bool isCut = cut.buckets != 0 && arguments.firstElement % 32 == 0 &&
                     codec.scaling != CGX_SCALING_L2 && codec.rounding != CGX_ROUND_RANDOM_SHIFT;
  const uint64_t end = isCut ? arguments.elements / cut.elements * cut.elements : 0;
  const bool ahead = cut.elements <= maxAheadElements;
  MeasuredSegment segments[2];
  if (end != 0 && ahead)
    measureSegment<source>(arguments, plan, cut, 0, readAhead.distance(), segments[0]);
  uint64_t turn = 0;
  const auto encodeSegment = [&](uint64_t begin, uint32_t distance) {
    MeasuredSegment &now = segments[turn];
    if (!ahead) {
      measureSegment<source>(arguments, plan, cut, begin, distance, now);
    } else {
      turn ^= 1;
      if (begin + cut.elements < end)
        measureSegment<source>(arguments, plan, cut, begin + cut.elements, distance, segments[turn]);
    }
    if (HWY_UNLIKELY(!random.seek(arguments.firstElement + begin, cut.elements) || !now.plain))
      encodeBuffered<source>(arguments, random, pack, begin, begin + cut.elements);
    else
      quantize(now, cut.elements, codec.bucket, random, arguments.firstElement + begin,
               arguments.levels + begin / 8 * codec.bits);
  };
  readAhead.forPieces(end, cut.elements, bytesOf(source), encodeSegment);
  if (end < arguments.elements)
    encodeBuffered<source>(arguments, random, pack, end, arguments.elements);
}

template <uint32_t bits> void encodeBits(const QuantizeEncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  const SegmentPlan cut =
      planSegments(codec.bucket, packingBlockElements(bits), arguments.source != Source::f32);
  const QuantizeSegment quantize =
      chooseQuantizeSegment<bits>(codec.rounding == CGX_ROUND_STOCHASTIC, cut.oneBucket);
  static constinit ReadAhead readAhead; // shared by all sources and bucket sizes, which read alike
  switch (arguments.source) {
  case Source::f32:
    return encodeSource<Source::f32>(arguments, cut, quantize, packBuffer<bits>, readAhead);
  case Source::f16:
    return encodeSource<Source::f16>(arguments, cut, quantize, packBuffer<bits>, readAhead);
  case Source::bf16:
    return encodeSource<Source::bf16>(arguments, cut, quantize, packBuffer<bits>, readAhead);
  case Source::f32ToF16:
    return encodeSource<Source::f32ToF16>(arguments, cut, quantize, packBuffer<bits>, readAhead);
  case Source::f32ToBf16:
    return encodeSource<Source::f32ToBf16>(arguments, cut, quantize, packBuffer<bits>, readAhead);
  }
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
