//===-- Implementations.cpp - The implementations in vectors --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one implementation for each instruction set, so that tests and benchmarks can run all of them. An
// instruction set without fused multiply-add has none, because emulating it would be slower than the
// reference.

#include "Implementations.h"

#include "../CodecFamily.h"
#include "hwy/highway.h"
#include "hwy/targets.h"

#include <array>

namespace cgx {
namespace {

using Families = std::array<const BodyKernels *, CGX_CODEC_FAMILY_COUNT>;

/// Returns the table of an instruction set's kernels.
constexpr Families listKernels(const BodyKernels &quantize, const BodyKernels &ternary,
                               const BodyKernels &sign, const BodyKernels &natural, const BodyKernels &cast,
                               const BodyKernels &lossless, const BodyKernels &gcomp, const BodyKernels &topk,
                               const BodyKernels &eden) {
  Families families = {};
  families[CGX_CODEC_QUANTIZE] = &quantize;
  families[CGX_CODEC_TERNARY] = &ternary;
  families[CGX_CODEC_SIGN] = &sign;
  families[CGX_CODEC_NATURAL] = &natural;
  families[CGX_CODEC_CAST] = &cast;
  families[CGX_CODEC_LOSSLESS] = &lossless;
  families[CGX_CODEC_GCOMP] = &gcomp;
  families[CGX_CODEC_TOPK] = &topk;
  families[CGX_CODEC_EDEN] = &eden;
  return families;
}

} // namespace

#if HWY_TARGETS & HWY_AVX3
namespace N_AVX3 {
extern const BodyKernels quantizeKernels, ternaryKernels, signKernels, naturalKernels, castKernels,
    losslessKernels, gcompKernels, topkKernels, edenKernels;
}
static constexpr Families avx512Families =
    listKernels(N_AVX3::quantizeKernels, N_AVX3::ternaryKernels, N_AVX3::signKernels, N_AVX3::naturalKernels,
                N_AVX3::castKernels, N_AVX3::losslessKernels, N_AVX3::gcompKernels, N_AVX3::topkKernels,
                N_AVX3::edenKernels);
static constexpr Implementation avx512 = {"avx512", "AVX-512 F, BW, CD, DQ and VL",
                                          [] { return (hwy::SupportedTargets() & HWY_AVX3) != 0; },
                                          avx512Families.data()};
#endif
#if HWY_TARGETS & HWY_AVX2
namespace N_AVX2 {
extern const BodyKernels quantizeKernels, ternaryKernels, signKernels, naturalKernels, castKernels,
    losslessKernels, gcompKernels, topkKernels, edenKernels;
}
static constexpr Families avx2Families =
    listKernels(N_AVX2::quantizeKernels, N_AVX2::ternaryKernels, N_AVX2::signKernels, N_AVX2::naturalKernels,
                N_AVX2::castKernels, N_AVX2::losslessKernels, N_AVX2::gcompKernels, N_AVX2::topkKernels,
                N_AVX2::edenKernels);
static constexpr Implementation avx2 = {"avx2", "AVX2, FMA and F16C",
                                        [] { return (hwy::SupportedTargets() & HWY_AVX2) != 0; },
                                        avx2Families.data()};
#endif
#if HWY_TARGETS & HWY_NEON
namespace N_NEON {
extern const BodyKernels quantizeKernels, ternaryKernels, signKernels, naturalKernels, castKernels,
    losslessKernels, gcompKernels, topkKernels, edenKernels;
}
static constexpr Families neonFamilies =
    listKernels(N_NEON::quantizeKernels, N_NEON::ternaryKernels, N_NEON::signKernels, N_NEON::naturalKernels,
                N_NEON::castKernels, N_NEON::losslessKernels, N_NEON::gcompKernels, N_NEON::topkKernels,
                N_NEON::edenKernels);
static constexpr Implementation neon = {
    "neon", "64-bit Arm", [] { return (hwy::SupportedTargets() & HWY_NEON) != 0; }, neonFamilies.data()};
#endif

static constexpr const Implementation *compiled[] = {
#if HWY_TARGETS & HWY_AVX3
    &avx512,
#endif
#if HWY_TARGETS & HWY_AVX2
    &avx2,
#endif
#if HWY_TARGETS & HWY_NEON
    &neon,
#endif
};

std::span<const Implementation *const> simdImplementations() { return compiled; }

} // namespace cgx
