//===-- Buckets-inl.h - Scales of buckets in vectors ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These functions measure one bucket of any length and source, or a few buckets at once, which share the last
// steps of the reduction and the divisions.

#if defined(CGX_KERNELS_CPU_SIMD_BUCKETS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_BUCKETS
#undef CGX_KERNELS_CPU_SIMD_BUCKETS
#else
#define CGX_KERNELS_CPU_SIMD_BUCKETS
#endif

#include "../BucketMeasure.h"
#include "Vectors-inl.h"
#include "cgx/arithmetic/quantize_sections.h"
#include "cgx/arithmetic/scale_section.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Finds the extremes of elements [begin, end), begin < end. Returns false if one of them is not finite.
template <Source source>
bool extremesOfRun(const void *input, uint64_t begin, uint64_t end, float &minimum, float &maximum) {
  const Floats floats;
  bool finite = true;
  if (end - begin < lanes) {
    minimum = maximum = loadElement(source, input, begin);
    for (uint64_t i = begin; i < end; ++i) {
      const float x = loadElement(source, input, i);
      finite = finite && isFinite(x);
      minimum = x < minimum ? x : minimum;
      maximum = x > maximum ? x : maximum;
    }
    return finite;
  }
  FloatVector low = loadElements<source>(input, begin), high = low;
  FloatVector poison = hn::Zero(floats); // x * 0 is a NaN if x is not finite
  for (uint64_t i = begin; i < end; i += lanes) {
    const FloatVector x = loadElements<source>(input, i + lanes <= end ? i : end - lanes);
    low = hn::Min(low, x);
    high = hn::Max(high, x);
    poison = hn::MulAdd(x, hn::Zero(floats), poison);
  }
  minimum = hn::GetLane(hn::MinOfLanes(floats, low));
  maximum = hn::GetLane(hn::MaxOfLanes(floats, high));
  return hn::AllTrue(floats, hn::Eq(poison, poison));
}

/// Returns the scale of the bucket of elements [begin, end), begin < end, with uniform levels.
template <Source source>
BucketScale measureBucket(const QuantizeEncodeArguments &arguments, uint64_t begin, uint64_t end) {
  float minimum, maximum;
  if (!extremesOfRun<source>(arguments.input, begin, end, minimum, maximum))
    return notFiniteScale();
  return makeUniformScale(*arguments.codec,
                          completeMeasure(*arguments.codec, source, arguments.input, begin, end, minimum,
                                          maximum, arguments.key, arguments.firstElement));
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

/// Reduces four vectors: lane i of the result is v_i reduced.
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
  FloatVector poison; ///< a NaN somewhere if an element is not finite
};

/// The extremes of a bucket that is being measured. There are two of each, for shorter chains of operations.
struct RunningExtremes {
  FloatVector low0, low1, high0, high1, poison0, poison1;
};

/// Takes vectors [v, vectors) of a group that starts at element `at`.
template <Source source, size_t v, size_t vectors>
HWY_INLINE void takeVectors(const void *HWY_RESTRICT input, uint64_t at, float *HWY_RESTRICT widened,
                            RunningExtremes &running) {
  if constexpr (v < vectors) {
    const Floats floats;
    const FloatVector zero = hn::Zero(floats);
    const FloatVector x0 = keepInRegister(loadElements<source>(input, at + v * lanes));
    const FloatVector x1 = keepInRegister(loadElements<source>(input, at + (v + 1) * lanes));
    if constexpr (source != Source::f32) {
      hn::StoreU(x0, floats, widened + v * lanes);
      hn::StoreU(x1, floats, widened + (v + 1) * lanes);
    }
    running.low0 = hn::Min(running.low0, x0);
    running.low1 = hn::Min(running.low1, x1);
    running.high0 = hn::Max(running.high0, x0);
    running.high1 = hn::Max(running.high1, x1);
    running.poison0 = hn::MulAdd(x0, zero, running.poison0);
    running.poison1 = hn::MulAdd(x1, zero, running.poison1);
    takeVectors<source, v + 2, vectors>(input, at, widened, running);
  }
}

/// Returns the extremes of the `bucket` elements from `begin` on, a multiple of `vectors` vectors, as four
/// lanes each. Elements of 16 bits are also written as f32 to `widened`.
template <Source source, size_t vectors>
HWY_INLINE BucketExtremes extremesOf(const void *HWY_RESTRICT input, uint64_t begin, uint64_t bucket,
                                     float *HWY_RESTRICT widened) {
  const Floats floats;
  const FloatVector first = loadElements<source>(input, begin), zero = hn::Zero(floats);
  RunningExtremes running = {first, first, first, first, zero, zero};
  uint64_t i = 0;
  do {
    takeVectors<source, 0, vectors>(input, begin + i, widened + i, running);
    i += vectors * lanes;
  } while (i < bucket);
  return BucketExtremes{foldToFour(floats, hn::Min(running.low0, running.low1), MinOperation()),
                        foldToFour(floats, hn::Max(running.high0, running.high1), MaxOperation()),
                        hn::Add(running.poison0, running.poison1)};
}

/// The parameters of measureBuckets(), computed once a payload.
struct MeasuringPlan {
  uint64_t bucket;
  bool narrow;      ///< scales are stored in bf16
  bool symmetrical; ///< levels lie on both sides of 0, and the unit alone is stored
  float steps;      ///< units between the ends, or between 0 and the end
  float one;        ///< a level in fixed point

  explicit MeasuringPlan(const cgx_codec &codec)
      : bucket(codec.bucket), narrow(codec.scale == CGX_SCALE_BF16),
        symmetrical(codec.scaling == CGX_SCALING_MAX_ABS),
        steps(float(symmetrical ? symmetricSteps(codec.bits) : (1u << codec.bits) - 1u)),
        one(float(1u << (16u - codec.bits))) {}

  uint64_t scaleBytes() const { return (narrow ? 2 : 4) * (symmetrical ? 1 : 2); }
};

/// The scales of four buckets, as stored.
struct FourScales {
  FourVector minimum;
  FourVector unit;
  hn::Mask<Four> flat; ///< all elements of the bucket are equal, and the unit is 0
};

/// Computes makeBucketScale() in every lane.
HWY_INLINE FourScales scaleBetween(const MeasuringPlan &plan, FourVector lowest, FourVector highest) {
  const Four four;
  const hn::RebindToSigned<Four> integers;
  FourVector minimum = hn::Add(lowest, hn::Zero(four));
  const auto top = hn::Set(integers, int32_t(0xffff0000u));
  const auto below = hn::Set(integers, 0xffff);
  if (plan.narrow) {
    const auto bits = hn::BitCast(integers, minimum);
    const auto away = hn::And(hn::BroadcastSignBit(bits), below);
    minimum = hn::BitCast(four, hn::And(hn::Add(bits, away), top));
  }
  const FourVector range = hn::Sub(highest, minimum);
  FourVector unit = hn::Max(hn::Div(range, hn::Set(four, plan.steps)), hn::Set(four, smallestUnit));
  if (plan.narrow) {
    const auto bits = hn::BitCast(integers, unit);
    unit = hn::BitCast(four, hn::And(hn::Add(bits, below), top));
  }
  const auto flat = hn::Eq(range, hn::Zero(four));
  return FourScales{minimum, hn::IfThenZeroElse(flat, unit), flat};
}

/// Computes makeSymmetricScale() in every lane.
HWY_INLINE FourScales scaleAroundZero(const MeasuringPlan &plan, FourVector lowest, FourVector highest) {
  const Four four;
  const hn::RebindToSigned<Four> integers;
  const FourVector end = hn::Max(highest, hn::Neg(lowest)), steps = hn::Set(four, plan.steps);
  const FourVector unit = hn::Max(hn::Div(end, steps), hn::Set(four, smallestUnit));
  const int32_t below = plan.narrow ? 0xffff : 0xff;
  const auto rounded =
      hn::And(hn::Add(hn::BitCast(integers, unit), hn::Set(integers, below)), hn::Set(integers, ~below));
  const auto flat = hn::Eq(end, hn::Zero(four));
  const FourVector stored = hn::IfThenZeroElse(flat, hn::BitCast(four, rounded));
  return FourScales{hn::Add(hn::Neg(hn::Mul(steps, stored)), hn::Zero(four)), stored, flat};
}

/// Stores the scales of the first `count` buckets.
template <uint64_t count>
HWY_INLINE void storeScales(const MeasuringPlan &plan, const FourScales &of, uint8_t *scales) {
  const Four four;
  const hn::RebindToUnsigned<Four> words;
  HWY_ALIGN uint8_t stored[32];
  if (plan.symmetrical && plan.narrow) {
    const hn::Rebind<uint16_t, Four> halves;
    const auto upper = hn::ShiftRight<16>(hn::BitCast(words, of.unit));
    hn::StoreU(hn::TruncateTo(halves, upper), halves, reinterpret_cast<uint16_t *>(stored));
  } else if (plan.symmetrical) {
    hn::StoreU(of.unit, four, reinterpret_cast<float *>(stored));
  } else if (plan.narrow) {
    const auto low = hn::ShiftRight<16>(hn::BitCast(words, of.minimum));
    hn::StoreU(hn::Or(low, hn::BitCast(words, of.unit)), words, reinterpret_cast<uint32_t *>(stored));
  } else {
    hn::StoreInterleaved2(of.minimum, of.unit, four, reinterpret_cast<float *>(stored));
  }
  memcpy(scales, stored, count * plan.scaleBytes());
}

/// Measures `count` (1, 2 or 4) buckets from element `begin` on. Stores their scales, and the minimum and the
/// factor that fixedPoint() needs; always writes four of each of these. Returns false if a bucket has an
/// element that is not finite, or a unit that needs prescaling; then the results are invalid.
template <Source source, size_t vectors, uint64_t count>
HWY_INLINE bool measureBuckets(const MeasuringPlan &plan, const void *HWY_RESTRICT input, uint64_t begin,
                               float *widened, uint8_t *scales, float *minimums, float *factors) {
  static_assert(count == 1 || count == 2 || count == 4);
  const Floats floats;
  const Four four;
  const uint64_t bucket = plan.bucket;
  FourVector lowest, highest;
  FloatVector poison;
  if constexpr (count == 4) {
    const BucketExtremes e0 = extremesOf<source, vectors>(input, begin, bucket, widened);
    const BucketExtremes e1 = extremesOf<source, vectors>(input, begin + bucket, bucket, widened + bucket);
    const BucketExtremes e2 =
        extremesOf<source, vectors>(input, begin + 2 * bucket, bucket, widened + 2 * bucket);
    const BucketExtremes e3 =
        extremesOf<source, vectors>(input, begin + 3 * bucket, bucket, widened + 3 * bucket);
    lowest = reduceFour(e0.minimum, e1.minimum, e2.minimum, e3.minimum, MinOperation());
    highest = reduceFour(e0.maximum, e1.maximum, e2.maximum, e3.maximum, MaxOperation());
    poison = hn::Add(hn::Add(e0.poison, e1.poison), hn::Add(e2.poison, e3.poison));
  } else if constexpr (count == 2) {
    const BucketExtremes e0 = extremesOf<source, vectors>(input, begin, bucket, widened);
    const BucketExtremes e1 = extremesOf<source, vectors>(input, begin + bucket, bucket, widened + bucket);
    lowest = reduceFour(e0.minimum, e1.minimum, e0.minimum, e1.minimum, MinOperation());
    highest = reduceFour(e0.maximum, e1.maximum, e0.maximum, e1.maximum, MaxOperation());
    poison = hn::Add(e0.poison, e1.poison);
  } else {
    const BucketExtremes e = extremesOf<source, vectors>(input, begin, bucket, widened);
    lowest = hn::MinOfLanes(four, e.minimum);
    highest = hn::MaxOfLanes(four, e.maximum);
    poison = e.poison;
  }

  const FourScales of =
      plan.symmetrical ? scaleAroundZero(plan, lowest, highest) : scaleBetween(plan, lowest, highest);
  storeScales<count>(plan, of, scales);
  // This is makeFixedPointMap(), lane by lane.
  const FourVector factor = hn::Div(hn::Set(four, plan.one), of.unit);
  hn::StoreU(of.minimum, four, minimums);
  hn::StoreU(hn::IfThenZeroElse(of.flat, factor), four, factors);

  const auto plain = hn::And(hn::Ge(of.unit, hn::Set(four, smallestPlainUnit)),
                             hn::Le(of.unit, hn::Set(four, largestPlainUnit)));
  return hn::AllTrue(four, hn::Or(plain, of.flat)) && hn::AllTrue(floats, hn::Eq(poison, poison));
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
