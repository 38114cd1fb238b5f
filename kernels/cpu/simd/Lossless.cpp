//===-- simd/Lossless.cpp - Entropy-coded exponents in vectors ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled once for each instruction set by foreach_target.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Lossless.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "../GcompBody.h"
#include "Exponents-inl.h"
#include "PrefixCode-inl.h"
#endif

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

using namespace lossless;

struct VectorLoops {
  using Encoder = CodeWriter;
  using Decoder = CodeReader;

  static bool split(cgx_element_type type, const uint8_t *elements, uint32_t count, const ExponentCode &code,
                    Parts &parts) {
    return type == CGX_F32 ? splitBlock<true>(elements, count, code, parts)
                           : splitBlock<false>(elements, count, code, parts);
  }

  static uint64_t encodeStream(const Encoder &encoder, const uint8_t *symbols, uint32_t count,
                               uint8_t *stream) {
    return encoder.encode(symbols, count, stream);
  }

  static bool decodeStreams(const Decoder &decoder, const Block &block, Symbols &symbols) {
    return decoder.decode(block, symbols) && countNotZero(block, symbols) == block.notZero;
  }

  static void merge(cgx_element_type type, const ExponentCode &code, const Block &block,
                    const Symbols &symbols, uint8_t *elements) {
    if (type == CGX_F32)
      mergeBlock<true>(code, block, symbols, elements);
    else
      mergeBlock<false>(code, block, symbols, elements);
  }

  template <Source source>
  static HWY_INLINE void add(const uint8_t *elements, uint32_t count, float *accumulator) {
    const Floats floats;
    uint32_t i = 0;
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::Add(hn::LoadU(floats, accumulator + i), loadElements<source>(elements, i)), floats,
                 accumulator + i);
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

  static void level(const GcompMetric &metric, const MetricRow &row, uint8_t *levels) {
    levelRow(metric, row, levels);
  }
};

} // namespace

// Not internal to this file.
extern const BodyKernels losslessKernels, gcompKernels;
const BodyKernels losslessKernels = {encodeBody<VectorLoops>, decodeBody<VectorLoops>,
                                     decodeAccumulateBody<VectorLoops>};
const BodyKernels gcompKernels = {encodeBody<VectorLoops, LeveledMantissas>,
                                  decodeBody<VectorLoops, LeveledMantissas>,
                                  decodeAccumulateBody<VectorLoops, LeveledMantissas>};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif
