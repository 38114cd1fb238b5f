//===-- simd/Lossless.cpp - Entropy-coded exponents in vectors ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// foreach_target.h compiles this file once for each instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Lossless.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "Exponents-inl.h"
#include "LevelMasks-inl.h"
#include "Levels-inl.h"
#include "Mantissas-inl.h"
#include "PrefixCode-inl.h"
#endif

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

using namespace lossless;

struct VectorLoops {
  using Counter = ExponentCounter;
  using Encoder = CodeWriter;
  using Decoder = CodeReader;

  static void narrow(cgx_element_type type, const uint8_t *values, uint32_t count, uint8_t *elements) {
    if (type == CGX_F16)
      narrowTo<Sink::f16>(values, count, elements);
    else
      narrowTo<Sink::bf16>(values, count, elements);
  }

  static bool split(cgx_element_type type, const uint8_t *elements, uint32_t count, const ExponentCode &code,
                    PlainParts &parts) {
    return type == CGX_F32 ? splitBlock<true>(elements, count, code, parts)
                           : splitBlock<false>(elements, count, code, parts);
  }

  static uint64_t encodeStreams(const Encoder &encoder, const uint8_t *symbols, uint32_t count,
                                const Ahead &ahead, uint8_t *streams, uint16_t *bytes) {
    return encoder.encode(symbols, count, ahead, streams, bytes);
  }

  static bool decodeStreams(const Decoder &decoder, const Block &block, Symbols &symbols) {
    return decoder.decode(block, symbols) && countNotZero(block, symbols) == block.notZero;
  }

  template <typename Opened>
  static void merge(cgx_element_type type, const ExponentCode &code, const Block &block, const Opened &opened,
                    const Symbols &symbols, bool isStreamed, const Ahead &ahead, uint8_t *elements) {
    if (type != CGX_F32)
      mergeBlock<StoreBits::halves>(code, block, opened, symbols, ahead, elements);
    else if (isStreamed)
      mergeBlock<StoreBits::streamed>(code, block, opened, symbols, ahead, elements);
    else
      mergeBlock<StoreBits::words>(code, block, opened, symbols, ahead, elements);
  }

  static bool isStreamed(cgx_element_type type, uint64_t elements, const void *output) {
    return type == CGX_F32 && 4 * elements >= streamFromBytes &&
           reinterpret_cast<uintptr_t>(output) % 64 == 0;
  }
  static bool isPayloadStreamed(uint64_t bytes) { return bytes >= streamFromBytes; }
  static void storeLines(const uint8_t *from, uint64_t count, uint8_t *out) {
    const Words words;
    const uint64_t end = count * lineBytes;
    for (uint64_t i = 0; i < end; i += 4 * lanes)
      hn::Stream(hn::Load(words, reinterpret_cast<const uint32_t *>(from + i)), words,
                 reinterpret_cast<uint32_t *>(out + i));
  }
  static void flush() { hwy::FlushStream(); }

  template <Source source>
  static HWY_INLINE void add(const uint8_t *elements, uint32_t count, float *accumulator) {
    uint32_t i = 0;
    for (; i + lanes <= count; i += lanes)
      emit<Sink::accumulate>(loadElements<source>(elements, i), accumulator + i);
    for (; i < count; ++i)
      accumulator[i] += loadElement(source, elements, i);
  }

  static void accumulate(cgx_element_type type, const uint8_t *elements, uint32_t count, float *accumulator) {
    if (type == CGX_F32)
      add<Source::f32>(elements, count, accumulator);
    else if (type == CGX_F16)
      add<Source::f16>(elements, count, accumulator);
    else
      add<Source::bf16>(elements, count, accumulator);
  }
};

struct VectorGcompLoops {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  using Parts = MaskedParts;

  static void level(const GcompMetric &metric, const MetricRow &row, uint32_t at, uint32_t count,
                    Parts &parts) {
    maskLevels(metric, row, at, count, parts);
  }

  static void levelNone(uint32_t at, uint32_t count, Parts &parts) { maskNoLevels(at, count, parts); }

  static bool split(cgx_element_type type, const LevelShifts & /*shifts*/, const uint8_t *elements,
                    uint32_t count, const ExponentCode &code, Parts &parts) {
    return splitMasked(type, elements, count, code, parts);
  }

  static void round(cgx_element_type type, const LevelShifts &shifts, const uint8_t *elements, uint32_t count,
                    Parts &parts) {
    roundMasked(type, shifts, elements, count, parts);
  }

  static uint8_t *write(const LevelShifts &shifts, Parts &parts, uint8_t *out) {
    return writeMasked(shifts, parts, out);
  }
#else
  using Parts = LeveledParts;

  static void level(const GcompMetric &metric, const MetricRow &row, uint32_t at, uint32_t count,
                    Parts &parts) {
    withMetric(metric, row, [&](auto isRooted, auto hasFirst) {
      levelRow<isRooted, hasFirst>(metric, row, count, parts.given + at);
    });
  }

  static void levelNone(uint32_t at, uint32_t count, Parts &parts) { memset(parts.given + at, 0, count); }

  static bool split(cgx_element_type type, const LevelShifts &shifts, const uint8_t *elements, uint32_t count,
                    const ExponentCode &code, Parts &parts) {
    if (type == CGX_F32)
      return splitLeveled<CGX_F32>(shifts, elements, count, code, parts);
    if (type == CGX_F16)
      return splitLeveled<CGX_F16>(shifts, elements, count, code, parts);
    return splitLeveled<CGX_BF16>(shifts, elements, count, code, parts);
  }

  static void round(cgx_element_type type, const LevelShifts &shifts, const uint8_t *elements, uint32_t count,
                    Parts &parts) {
    if (type == CGX_F32)
      roundLeveled<CGX_F32>(shifts, parts.given, elements, count, parts.rounded);
    else if (type == CGX_F16)
      roundLeveled<CGX_F16>(shifts, parts.given, elements, count, parts.rounded);
    else
      roundLeveled<CGX_BF16>(shifts, parts.given, elements, count, parts.rounded);
  }

  static uint8_t *write(const LevelShifts &shifts, const Parts &parts, uint8_t *out) {
    return writeLeveled<VectorGcompLoops>(shifts, parts, out);
  }

  static void packLevels(const uint8_t *levels, uint32_t count, uint8_t *out) {
    packLevelBytes(levels, count, out);
  }

  static void packMantissas(const uint32_t *mantissas, uint32_t count, uint32_t shift, uint8_t *out) {
    ReferenceGcompLoops::packMantissas(mantissas, count, shift, out);
  }
#endif

  static void widen(cgx_element_type type, const uint8_t *elements, uint32_t count, float *out) {
    if (type == CGX_F16)
      widenOf<Source::f16>(elements, count, out);
    else
      widenOf<Source::bf16>(elements, count, out);
  }

  static LevelCounts countLevels(const uint8_t *levels, uint32_t count) {
    return countPackedLevels(levels, count);
  }

  static void open(const uint8_t *levels, const LevelCounts &counts, const LevelShifts &shifts,
                   const std::array<const uint8_t *, gcompLevels> &begins, LeveledMantissaWords &opened) {
    openLeveled(levels, counts, shifts, begins, opened);
  }

private:
  template <Source source>
  static HWY_INLINE void widenOf(const uint8_t *elements, uint32_t count, float *out) {
    uint32_t i = 0;
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(loadElements<source>(elements, i), Floats(), out + i);
    for (; i < count; ++i)
      out[i] = loadElement(source, elements, i);
  }
};

} // namespace

// These are declared extern because a const object would be internal to this file.
extern const BodyKernels losslessKernels, gcompKernels;
using Plain = PlainMantissas<VectorLoops>;
const BodyKernels losslessKernels = {encodeBody<VectorLoops, Plain>, decodeBody<VectorLoops, Plain>,
                                     decodeAccumulateBody<VectorLoops, Plain>};
using Leveled = LeveledMantissas<VectorGcompLoops>;
const BodyKernels gcompKernels = {encodeBody<VectorLoops, Leveled>, decodeBody<VectorLoops, Leveled>,
                                  decodeAccumulateBody<VectorLoops, Leveled>};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif
