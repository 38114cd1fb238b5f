//===-- Buckets-inl.h - Scales of buckets in vectors ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scale of one bucket of any length and source, and of four buckets of f32 at once:
// four share the last steps of the reduction and one division.

#if defined(CGX_KERNELS_CPU_SIMD_BUCKETS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_BUCKETS
#undef CGX_KERNELS_CPU_SIMD_BUCKETS
#else
#define CGX_KERNELS_CPU_SIMD_BUCKETS
#endif

#include "../ScaleSection.h"
#include "Vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// The scale of the bucket of elements [begin, end), begin < end.
template <Source source>
BucketScale measureBucket(const cgx_codec &codec, const void *input, uint64_t begin, uint64_t end) {
  const Floats floats;
  float minimum, maximum;
  bool finite = true;
  if (end - begin < lanes) {
    minimum = maximum = loadElement(source, input, begin);
    for (uint64_t i = begin; i < end; ++i) {
      const float x = loadElement(source, input, i);
      finite = finite && isFinite(x);
      minimum = x < minimum ? x : minimum;
      maximum = x > maximum ? x : maximum;
    }
  } else {
    FloatVector low = loadElements<source>(input, begin), high = low;
    FloatVector poison = hn::Zero(floats); // x * 0 is a NaN for what is not finite
    for (uint64_t i = begin; i < end; i += lanes) {
      const FloatVector x = loadElements<source>(input, i + lanes <= end ? i : end - lanes);
      low = hn::Min(low, x);
      high = hn::Max(high, x);
      poison = hn::MulAdd(x, hn::Zero(floats), poison);
    }
    finite = hn::AllTrue(floats, hn::Eq(poison, poison));
    minimum = hn::GetLane(hn::MinOfLanes(floats, low));
    maximum = hn::GetLane(hn::MaxOfLanes(floats, high));
  }
  return finite ? makeBucketScale(minimum, maximum, codec.bits, codec.scale) : notFiniteScale();
}

using Four = hn::CappedTag<float, 4>;
using FourVector = hn::Vec<Four>;

struct MinOperation {
  template <class V> HWY_INLINE V operator()(V a, V b) const { return hn::Min(a, b); }
};
struct MaxOperation {
  template <class V> HWY_INLINE V operator()(V a, V b) const { return hn::Max(a, b); }
};

/// Folds a vector in halves down to four lanes.
template <class D, class V, class Operation> HWY_INLINE FourVector foldToFour(D d, V v, Operation operation) {
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    return foldToFour(half, operation(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), operation);
  } else {
    return v;
  }
}

/// Lane i of the result is v_i reduced.
template <class Operation>
HWY_INLINE FourVector reduceFour(FourVector v0, FourVector v1, FourVector v2, FourVector v3,
                                 Operation operation) {
  const Four four;
  const FourVector t0 = operation(hn::InterleaveLower(four, v0, v1), hn::InterleaveUpper(four, v0, v1));
  const FourVector t1 = operation(hn::InterleaveLower(four, v2, v3), hn::InterleaveUpper(four, v2, v3));
  return operation(hn::ConcatLowerLower(four, t1, t0), hn::ConcatUpperUpper(four, t1, t0));
}

struct BucketExtremes {
  FourVector minimum;
  FourVector maximum;
};

/// Extremes of `bucket` elements, a multiple of 32, as four lanes each. What is not finite
/// leaves a NaN in `poison`.
HWY_INLINE BucketExtremes extremesOf(const float *HWY_RESTRICT input, uint64_t bucket, FloatVector &poison) {
  const Floats floats;
  FloatVector low0 = hn::LoadU(floats, input), high0 = low0;
  FloatVector low1 = hn::LoadU(floats, input + lanes), high1 = low1;
  poison = hn::MulAdd(low0, hn::Zero(floats), poison);
  poison = hn::MulAdd(low1, hn::Zero(floats), poison);
  for (uint64_t i = 2 * lanes; i < bucket; i += 2 * lanes) {
    const FloatVector x0 = hn::LoadU(floats, input + i);
    const FloatVector x1 = hn::LoadU(floats, input + i + lanes);
    low0 = hn::Min(low0, x0);
    low1 = hn::Min(low1, x1);
    high0 = hn::Max(high0, x0);
    high1 = hn::Max(high1, x1);
    poison = hn::MulAdd(x0, hn::Zero(floats), poison);
    poison = hn::MulAdd(x1, hn::Zero(floats), poison);
  }
  return BucketExtremes{foldToFour(floats, hn::Min(low0, low1), MinOperation()),
                        foldToFour(floats, hn::Max(high0, high1), MaxOperation())};
}

/// Measures four consecutive buckets: stores their scales, and the minimum and the factor
/// that fixedPoint() needs. False, and nothing to rely on, if one of them needs more than
/// the plain map: an element that is not finite, or a unit that needs prescaling.
HWY_INLINE bool measureFourBuckets(const cgx_codec &codec, const float *HWY_RESTRICT input, uint8_t *scales,
                                   float *minimums, float *factors) {
  const Floats floats;
  const Four four;
  const hn::RebindToSigned<Four> integers;
  const uint64_t bucket = codec.bucket;
  FloatVector poison = hn::Zero(floats);
  const BucketExtremes e0 = extremesOf(input, bucket, poison);
  const BucketExtremes e1 = extremesOf(input + bucket, bucket, poison);
  const BucketExtremes e2 = extremesOf(input + 2 * bucket, bucket, poison);
  const BucketExtremes e3 = extremesOf(input + 3 * bucket, bucket, poison);
  const FourVector lowest = reduceFour(e0.minimum, e1.minimum, e2.minimum, e3.minimum, MinOperation());
  const FourVector highest = reduceFour(e0.maximum, e1.maximum, e2.maximum, e3.maximum, MaxOperation());

  // makeBucketScale() and makeFixedPointMap(), lane by lane.
  FourVector minimum = hn::Add(lowest, hn::Zero(four));
  const auto top = hn::Set(integers, int32_t(0xffff0000u));
  const auto below = hn::Set(integers, 0xffff);
  const bool narrow = codec.scale == CGX_SCALE_BF16;
  if (narrow) {
    const auto bits = hn::BitCast(integers, minimum);
    const auto away = hn::And(hn::BroadcastSignBit(bits), below);
    minimum = hn::BitCast(four, hn::And(hn::Add(bits, away), top));
  }
  const FourVector range = hn::Sub(highest, minimum);
  const float inverseSteps = 1.0f / float((1u << codec.bits) - 1u);
  FourVector unit = hn::Max(hn::Mul(range, hn::Set(four, inverseSteps)), hn::Set(four, smallestUnit));
  if (narrow) {
    const auto bits = hn::BitCast(integers, unit);
    unit = hn::BitCast(four, hn::And(hn::Add(bits, below), top));
  }
  const auto flat = hn::Eq(range, hn::Zero(four));
  unit = hn::IfThenZeroElse(flat, unit);
  const FourVector factor = hn::Div(hn::Set(four, float(1u << (16u - codec.bits))), unit);
  hn::StoreU(minimum, four, minimums);
  hn::StoreU(hn::IfThenZeroElse(flat, factor), four, factors);
  if (narrow) {
    const auto low = hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<Four>(), minimum));
    const auto pair = hn::Or(low, hn::BitCast(hn::RebindToUnsigned<Four>(), unit));
    hn::StoreU(pair, hn::RebindToUnsigned<Four>(), reinterpret_cast<uint32_t *>(scales));
  } else {
    hn::StoreInterleaved2(minimum, unit, four, reinterpret_cast<float *>(scales));
  }

  const auto plain =
      hn::And(hn::Ge(unit, hn::Set(four, smallestPlainUnit)), hn::Le(unit, hn::Set(four, largestPlainUnit)));
  return hn::AllTrue(four, hn::Or(plain, flat)) && hn::AllTrue(floats, hn::Eq(poison, poison));
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
