//===-- Levels-inl.h - The levels of gcomp in vectors -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_LEVELS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_LEVELS
#undef CGX_KERNELS_CPU_SIMD_LEVELS
#else
#define CGX_KERNELS_CPU_SIMD_LEVELS
#endif

#include "../GcompLoops.h"
#include "Rows-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

using Doubles = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<Doubles>;

/// The metric of an optimizer in vectors. It computes what gcompLevel() does, operation by operation.
template <bool isRooted, bool hasFirst> class LevelMetric {
public:
  explicit LevelMetric(const GcompMetric &metric)
      : second(set(metric.second)), square(set(metric.square)), decay(set(metric.decay)),
        epsilon(set(metric.epsilon)), rooted(set(metric.rooted)), plain(set(metric.plain)),
        first(set(metric.first)) {
    // Multiplying a product by a power of two equals multiplying one factor by it, because nothing overflows.
    for (uint32_t level = 1; level < gcompLevels; ++level)
      steps[level - 1] = set(metric.thresholds[level - 1] * std::fabs(metric.gradient));
    factor = set((0.0 + metric.epsilon) * metric.rooted + metric.plain);
  }

  /// Calls above(level, mask) for levels from 1 on, with a mask of the elements that reach the level.
  template <typename Above>
  HWY_INLINE void level(const lossless::MetricRow &row, uint32_t i, const Above &above) const {
    const auto load = [&](const uint8_t *of) {
      const hn::Rebind<float, Doubles> floats;
      return hn::PromoteTo(Doubles(), hn::LoadU(floats, reinterpret_cast<const float *>(of) + i));
    };
    const DoubleVector gradient = load(row.gradient), parameter = load(row.kept[CGX_KEPT_PARAMETER]);
    DoubleVector rest = hn::Zero(Doubles());
    if constexpr (hasFirst)
      rest = hn::Mul(first, load(row.kept[CGX_KEPT_FIRST_MOMENT]));
    if constexpr (isRooted) {
      const DoubleVector decayed = hn::Add(gradient, hn::Mul(decay, parameter));
      const DoubleVector root = hn::Sqrt(hn::Add(hn::Mul(second, load(row.kept[CGX_KEPT_SECOND_MOMENT])),
                                                 hn::Mul(square, hn::Mul(decayed, decayed))));
      rest = hn::Sub(hn::Mul(parameter, hn::Add(hn::Mul(hn::Add(root, epsilon), rooted), plain)), rest);
    } else {
      // gcompLevel() takes the root of zero times the square of the decayed gradient: 0, or NaN if the
      // parameter is not finite.
      rest = hn::Add(hn::Sub(hn::Mul(parameter, factor), rest), hn::Sub(parameter, parameter));
    }
    const DoubleVector size = hn::Abs(rest), magnitude = hn::Abs(gradient);
    for (uint32_t level = 1; level < gcompLevels; ++level)
      above(level, hn::Gt(size, hn::Mul(steps[level - 1], magnitude)));
  }

private:
  static DoubleVector set(double value) { return hn::Set(Doubles(), value); }

  DoubleVector second, square, decay, epsilon, rooted, plain, first, factor, steps[gcompLevels - 1];
};

/// Calls call(isRooted, hasFirst) with the kind of a metric.
template <typename Call>
HWY_INLINE void withMetric(const GcompMetric &metric, const lossless::MetricRow &row, const Call &call) {
  const auto withFirst = [&](auto isRooted) {
    if (row.kept[CGX_KEPT_FIRST_MOMENT])
      call(isRooted, std::true_type());
    else
      call(isRooted, std::false_type());
  };
  if (metric.second != 0 || metric.square != 0)
    withFirst(std::true_type());
  else
    withFirst(std::false_type());
}

template <bool isRooted, bool hasFirst>
HWY_INLINE void levelRow(const GcompMetric &ofOptimizer, const lossless::MetricRow &row, uint32_t count,
                         uint8_t *levels) {
  const LevelMetric<isRooted, hasFirst> metric(ofOptimizer);
  uint32_t i = 0;
  constexpr size_t together = hn::MaxLanes(Doubles());
  for (; i + together <= count; i += together) {
    if (i % 16 == 0)
      row.askAhead(i);
    const hn::RebindToUnsigned<Doubles> wide;
    const hn::Rebind<uint8_t, Doubles> bytes;
    auto sum = hn::Zero(wide);
    metric.level(row, i, [&](uint32_t, auto mask) {
      sum = hn::Add(sum, hn::IfThenElseZero(hn::RebindMask(wide, mask), hn::Set(wide, 1)));
    });
    hn::StoreU(hn::TruncateTo(bytes, sum), bytes, levels + i);
  }
  for (; i < count; ++i)
    levels[i] = lossless::levelOf(ofOptimizer, row, i);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
