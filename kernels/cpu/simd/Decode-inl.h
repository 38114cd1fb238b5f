//===-- Decode-inl.h - Dequantize in vectors --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding has the same two paths as encoding. Whole segments in buckets of a multiple of 32 elements whose
// values are all finite go through registers; everything else goes through a buffer of levels.

#if defined(CGX_KERNELS_CPU_SIMD_DECODE) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_DECODE
#undef CGX_KERNELS_CPU_SIMD_DECODE
#else
#define CGX_KERNELS_CPU_SIMD_DECODE
#endif

#include "Segments-inl.h"
#include "Sinks-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Returns whether levelValue() needs no limit for any level: all values lie between those of level 0 and of
/// the top level. Returns false for NaNs.
inline bool isPlain(BucketScale scale, uint32_t bits, float limit) {
  const float top = fusedMultiplyAdd(float((1u << bits) - 1u), scale.unit, scale.minimum);
  return std::abs(scale.minimum) <= limit && std::abs(top) <= limit;
}

/// The rows of a block, whose values are computed. `scales` has one entry for each row, or one if the block
/// lies in one bucket.
template <Sink sink, bool oneBucket> struct ComputedRows {
  static constexpr bool takesDirtyLevels = false;
  const BucketScale *scales;
  OutputOf<sink> *HWY_RESTRICT output;

  template <uint32_t row> HWY_INLINE void takeRow(size_t c, WordVector low, WordVector high) const {
    const Floats floats;
    const hn::RebindToSigned<Floats> integers;
    const FloatVector unit = hn::Set(floats, scales[oneBucket ? 0 : row].unit);
    const FloatVector minimum = hn::Set(floats, scales[oneBucket ? 0 : row].minimum);
    OutputOf<sink> *out = output + row * 32 + c;
    emit<sink>(hn::MulAdd(hn::ConvertTo(floats, hn::BitCast(integers, low)), unit, minimum), out);
    emit<sink>(hn::MulAdd(hn::ConvertTo(floats, hn::BitCast(integers, high)), unit, minimum), out + 16);
  }
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// The rows of a block in one bucket with at most 4 bits, whose values are looked up. The table has 16 values
/// and repeats every 2^bits; the look-up ignores all but the lowest four bits of an index.
template <Sink sink> struct LookedUpRows {
  static constexpr bool takesDirtyLevels = true;
  FloatVector table;
  OutputOf<sink> *HWY_RESTRICT output;

  template <uint32_t row> HWY_INLINE void takeRow(size_t c, WordVector low, WordVector high) const {
    emit<sink>(FloatVector{_mm512_permutexvar_ps(low.raw, table.raw)}, output + row * 32 + c);
    emit<sink>(FloatVector{_mm512_permutexvar_ps(high.raw, table.raw)}, output + row * 32 + 16 + c);
  }
};
constexpr bool haveLookUp = true;
#else
template <Sink sink> struct LookedUpRows;
constexpr bool haveLookUp = false;
#endif

/// The rows of a block, whose levels go to the buffer in order.
struct BufferRows {
  static constexpr bool takesDirtyLevels = false;
  uint16_t *HWY_RESTRICT buffer;

  template <uint32_t row> HWY_INLINE void takeRow(size_t c, WordVector low, WordVector high) const {
    const NarrowHalves narrow;
    hn::StoreU(hn::TruncateTo(narrow, low), narrow, buffer + row * 32 + c);
    hn::StoreU(hn::TruncateTo(narrow, high), narrow, buffer + row * 32 + 16 + c);
  }
};

/// Unpacks the levels of less than a block.
inline void unpackDense(const uint8_t *in, uint64_t count, uint32_t bits, uint16_t *levels) {
  uint32_t pending = 0, have = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (have < bits) {
      pending |= uint32_t(*in++) << have;
      have += 8;
    }
    levels[i] = uint16_t(pending & ((1u << bits) - 1u));
    pending >>= bits;
    have -= bits;
  }
}

/// The destination of values that are decoded through the buffer.
template <Sink sink> struct Consumer {
  OutputOf<sink> *output;

  void one(uint64_t index, float value) const { emitOne<sink>(value, output + index); }

  HWY_INLINE void vector(uint64_t index, FloatVector value) const {
    // Vectors of the buffer may be unaligned, which streaming stores do not allow.
    emit<sink == Sink::streamedF32 ? Sink::f32 : sink>(value, output + index);
  }
};

/// Decodes `count` levels of one bucket.
template <Sink sink>
void decodeRun(BucketScale scale, float limit, const uint16_t *levels, uint64_t begin, uint64_t count,
               const Consumer<sink> &consumer) {
  const Floats floats;
  const hn::RebindToSigned<Floats> integers;
  uint64_t i = 0;
  if (isFiniteScale(scale) && count >= lanes) {
    const FloatVector unit = hn::Set(floats, scale.unit), minimum = hn::Set(floats, scale.minimum);
    const FloatVector top = hn::Set(floats, limit), bottom = hn::Set(floats, -limit);
    while (i < count) {
      if (i + lanes > count) {
        if (sink == Sink::accumulate) // an overlapping vector would add twice
          break;
        i = count - lanes;
      }
      const auto level = hn::BitCast(integers, hn::PromoteTo(Words(), hn::LoadU(NarrowHalves(), levels + i)));
      const FloatVector value = hn::MulAdd(hn::ConvertTo(floats, level), unit, minimum);
      consumer.vector(begin + i, hn::Max(hn::Min(value, top), bottom));
      i += lanes;
    }
  }
  for (; i < count; ++i)
    consumer.one(begin + i, levelValue(scale, levels[i], limit));
}

/// Unpacks a chunk. Only the payload's last chunk may end inside a block.
template <uint32_t bits> void unpackBuffer(const uint8_t *in, uint64_t count, uint16_t *buffer) {
  constexpr uint64_t blockElements = packingBlockElements(bits);
  for (; count >= blockElements;
       count -= blockElements, buffer += blockElements, in += packingBlockBytes(bits))
    unpackBlock<bits>(in, BufferRows{buffer});
  unpackDense(in, count, bits, buffer);
}

using UnpackBuffer = void (*)(const uint8_t *in, uint64_t count, uint16_t *buffer);

/// Decodes elements [begin, end) through the buffer; begin and end are as in encodeBuffered().
template <Sink sink>
void decodeBuffered(const QuantizeDecodeArguments &arguments, UnpackBuffer unpack, float limit,
                    uint64_t begin, uint64_t end, const Consumer<sink> &consumer) {
  const cgx_codec &codec = *arguments.codec;
  HWY_ALIGN uint16_t buffer[chunkElements];
  uint64_t bucket = begin / codec.bucket, bucketEnd = begin;
  BucketScale scale = {};
  for (uint64_t chunk = begin; chunk < end; chunk += chunkElements) {
    const uint64_t count = end - chunk < chunkElements ? end - chunk : chunkElements;
    unpack(arguments.levels + chunk / 8 * codec.bits, count, buffer);
    for (uint64_t i = chunk; i < chunk + count;) {
      if (i == bucketEnd) {
        bucketEnd = end - i < codec.bucket ? end : i + codec.bucket;
        scale = loadScale(arguments.scales, codec, bucket++);
      }
      const uint64_t runEnd = bucketEnd < chunk + count ? bucketEnd : chunk + count;
      decodeRun(scale, limit, buffer + (i - chunk), i, runEnd - i, consumer);
      i = runEnd;
    }
  }
}

template <uint32_t bits, Sink sink>
HWY_INLINE void decodeBlockOfOneBucket(const uint8_t *in, const BucketScale &scale, OutputOf<sink> *output) {
  if constexpr (haveLookUp && bits <= 4) {
    const Floats floats;
    const hn::RebindToSigned<Floats> integers;
    const auto level = hn::And(hn::Iota(integers, 0), hn::Set(integers, (1 << bits) - 1));
    const FloatVector table =
        hn::MulAdd(hn::ConvertTo(floats, level), hn::Set(floats, scale.unit), hn::Set(floats, scale.minimum));
    unpackBlock<bits>(in, LookedUpRows<sink>{table, output});
  } else {
    unpackBlock<bits>(in, ComputedRows<sink, true>{&scale, output});
  }
}

/// Decodes whole segments through registers and returns the number of elements decoded.
template <uint32_t bits, Sink sink>
uint64_t decodeSegments(const QuantizeDecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  const cgx_codec &codec = *arguments.codec;
  constexpr uint64_t blockElements = packingBlockElements(bits);
  const uint64_t bucket = codec.bucket;
  const auto [buckets, segment, oneBucket] = planSegments(bucket, blockElements, /*keepsElements=*/false);
  BucketScale scales[maxSegmentBuckets];
  BucketScale rows[packingRows(bits)];
  uint64_t begin = 0;
  for (; buckets != 0 && begin + segment <= arguments.elements; begin += segment) {
    bool plain = true;
    for (uint64_t b = 0; b < buckets; ++b) {
      scales[b] = loadScale(arguments.scales, codec, begin / bucket + b);
      plain &= isPlain(scales[b], bits, limit);
    }
    if (HWY_UNLIKELY(!plain)) {
      decodeBuffered<sink>(arguments, unpackBuffer<bits>, limit, begin, begin + segment,
                           Consumer<sink>{output});
      continue;
    }
    const uint8_t *in = arguments.levels + begin / 8 * bits;
    uint64_t scale = 0, scaleEnd = bucket;
    for (uint64_t i = 0; i < segment; i += blockElements, in += packingBlockBytes(bits)) {
      if (oneBucket) {
        if (i == scaleEnd) {
          ++scale;
          scaleEnd += bucket;
        }
        decodeBlockOfOneBucket<bits, sink>(in, scales[scale], output + begin + i);
        continue;
      }
      for (uint32_t r = 0; r < packingRows(bits); ++r) {
        if (i + r * 32 == scaleEnd) {
          ++scale;
          scaleEnd += bucket;
        }
        rows[r] = scales[scale];
      }
      unpackBlock<bits>(in, ComputedRows<sink, false>{rows, output + begin + i});
    }
  }
  return begin;
}

template <uint32_t bits, Sink sink>
void decodeTo(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output) {
  OutputOf<sink> *elements = static_cast<OutputOf<sink> *>(output);
  const float limit = largestValue(type);
  const uint64_t done = decodeSegments<bits, sink>(arguments, limit, elements);
  if (done < arguments.elements)
    decodeBuffered<sink>(arguments, unpackBuffer<bits>, limit, done, arguments.elements,
                         Consumer<sink>{elements});
}

template <uint32_t bits>
void decodeBits(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output) {
  withSink(type, arguments.elements, output,
           [&]<Sink sink>(SinkTag<sink>) { decodeTo<bits, sink>(arguments, type, output); });
}

template <uint32_t bits>
void decodeAccumulateBits(const QuantizeDecodeArguments &arguments, float *accumulator) {
  decodeTo<bits, Sink::accumulate>(arguments, CGX_F32, accumulator);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
