//===-- Vectors-inl.h - Vectors of elements, rows of columns ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All *-inl.h files here are compiled once for each instruction set. A row of packing.h has 32 columns, which
// are the halves of 16 lanes of 32 bits. Where a vector has fewer lanes, a row is processed from lane `c` on
// for c = 0, lanes, ...

#if defined(CGX_KERNELS_CPU_SIMD_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_VECTORS
#undef CGX_KERNELS_CPU_SIMD_VECTORS
#else
#define CGX_KERNELS_CPU_SIMD_VECTORS
#endif

#include "cgx/arithmetic/elements.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Words = hn::RebindToUnsigned<Floats>;        ///< words of 32 bits, two halves each
using Halves = hn::Repartition<uint16_t, Words>;   ///< the same vector as 16-bit lanes
using NarrowHalves = hn::Rebind<uint16_t, Floats>; ///< as many 16-bit lanes as Floats has
using FloatVector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;
using HalfVector = hn::Vec<Halves>;

constexpr size_t lanes = hn::MaxLanes(Floats());
constexpr size_t rowLanes = 16;
static_assert(rowLanes % lanes == 0);

/// Returns bits of f32 whose upper halves are the nearest bf16, ties to even. The result for a NaN is
/// unspecified.
HWY_INLINE WordVector roundToBfloat16(FloatVector x) {
  const WordVector bits = hn::BitCast(Words(), x);
  const WordVector odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(Words(), 1));
  return hn::Add(hn::Add(bits, hn::Set(Words(), 0x7fff)), odd);
}

/// Loads elements [index, index + lanes) as f32. A NaN of f32ToBf16 is not rounded.
template <Source source> HWY_INLINE FloatVector loadElements(const void *input, uint64_t index) {
  const Floats floats;
  if constexpr (source == Source::f16) {
    const hn::Rebind<hwy::float16_t, Floats> narrow;
    return hn::PromoteTo(floats, hn::LoadU(narrow, static_cast<const hwy::float16_t *>(input) + index));
  } else if constexpr (source == Source::bf16) {
    const auto bits = hn::LoadU(NarrowHalves(), static_cast<const uint16_t *>(input) + index);
    return hn::BitCast(floats, hn::ShiftLeft<16>(hn::PromoteTo(Words(), bits)));
  } else {
    const FloatVector x = hn::LoadU(floats, static_cast<const float *>(input) + index);
    if constexpr (source == Source::f32ToF16) {
      const hn::Rebind<hwy::float16_t, Floats> narrow;
      return hn::PromoteTo(floats, hn::DemoteTo(narrow, x));
    } else if constexpr (source == Source::f32ToBf16) {
      const WordVector rounded = hn::And(roundToBfloat16(x), hn::Set(Words(), 0xffff0000u));
      return hn::IfThenElse(hn::IsNaN(x), x, hn::BitCast(floats, rounded));
    } else {
      return x;
    }
  }
}

/// Keeps a loaded vector in its register. GCC would otherwise load it again for each use.
HWY_INLINE FloatVector keepInRegister(FloatVector x) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86
  __asm__("" : "+v"(x.raw));
#endif
  return x;
}

/// Merges the low halves of the lanes of two vectors into one.
HWY_INLINE HalfVector mergeHalves(WordVector low, WordVector high) {
  const Halves halves;
  return hn::OddEven(hn::BitCast(halves, hn::ShiftLeft<16>(high)), hn::BitCast(halves, low));
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
