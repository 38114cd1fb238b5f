//===-- Quantize.cpp - The quantize codec in vectors, per instruction set --===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled once for each instruction set by foreach_target.h, and listed as one
// implementation each, so that tests and benchmarks can run every one of them. An
// instruction set without fused multiply-add has none: emulating it would be
// slower than the reference.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Quantize.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "Decode-inl.h"
#include "Segments-inl.h"
#endif

#include "Quantize.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

/// Calls function<bits>() for the codec's bits, which have been checked.
#define CGX_DISPATCH_BITS(function, bits, ...)                                                               \
  switch (bits) {                                                                                            \
  case 1:                                                                                                    \
    return function<1>(__VA_ARGS__);                                                                         \
  case 2:                                                                                                    \
    return function<2>(__VA_ARGS__);                                                                         \
  case 3:                                                                                                    \
    return function<3>(__VA_ARGS__);                                                                         \
  case 4:                                                                                                    \
    return function<4>(__VA_ARGS__);                                                                         \
  case 5:                                                                                                    \
    return function<5>(__VA_ARGS__);                                                                         \
  case 6:                                                                                                    \
    return function<6>(__VA_ARGS__);                                                                         \
  case 7:                                                                                                    \
    return function<7>(__VA_ARGS__);                                                                         \
  default:                                                                                                   \
    return function<8>(__VA_ARGS__);                                                                         \
  }

void encode(const QuantizeEncodeArguments &arguments) {
  CGX_DISPATCH_BITS(encodeBits, arguments.codec->bits, arguments)
}

void decode(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output) {
  CGX_DISPATCH_BITS(decodeBits, arguments.codec->bits, arguments, type, output)
}

void decodeAccumulate(const QuantizeDecodeArguments &arguments, float *accumulator) {
  CGX_DISPATCH_BITS(decodeAccumulateBits, arguments.codec->bits, arguments, accumulator)
}

#undef CGX_DISPATCH_BITS

} // namespace

const QuantizeKernels quantizeKernels = {encode, decode, decodeAccumulate};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#include "hwy/targets.h"

namespace cgx {
namespace {

#if HWY_TARGETS & HWY_AVX3
constexpr Implementation avx512 = {"avx512", "AVX-512 F, BW, CD, DQ and VL",
                                   [] { return (hwy::SupportedTargets() & HWY_AVX3) != 0; },
                                   &N_AVX3::quantizeKernels};
#endif
#if HWY_TARGETS & HWY_AVX2
constexpr Implementation avx2 = {"avx2", "AVX2, FMA and F16C",
                                 [] { return (hwy::SupportedTargets() & HWY_AVX2) != 0; },
                                 &N_AVX2::quantizeKernels};
#endif
#if HWY_TARGETS & HWY_NEON
constexpr Implementation neon = {
    "neon", "64-bit Arm", [] { return (hwy::SupportedTargets() & HWY_NEON) != 0; }, &N_NEON::quantizeKernels};
#endif

constexpr const Implementation *compiled[] = {
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

} // namespace

std::span<const Implementation *const> simdImplementations() { return compiled; }

} // namespace cgx
#endif
