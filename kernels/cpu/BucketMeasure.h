//===-- BucketMeasure.h - The measures of a bucket of quantize --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_BUCKETMEASURE_H
#define CGX_KERNELS_CPU_BUCKETMEASURE_H

#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/quantize.h"
#include "cgx/arithmetic/random.h"

#include <cmath>

namespace cgx {

/// Returns the Euclidean norm of finite elements [begin, end). Squares are added in f64, that of element k to
/// lane k % 16; then upper halves of the lanes are added to lower ones.
inline float euclideanNorm(Source source, const void *input, uint64_t begin, uint64_t end) {
  double lanes[16] = {};
  for (uint64_t i = begin; i < end; ++i) {
    const double x = double(loadElement(source, input, i));
    lanes[(i - begin) % 16] += x * x;
  }
  for (uint32_t half = 8; half > 0; half /= 2)
    for (uint32_t lane = 0; lane < half; ++lane)
      lanes[lane] += lanes[lane + half];
  return float(std::sqrt(lanes[0]));
}

/// Returns the measures of finite elements [begin, end) that the codec's scale needs, given their extremes.
inline BucketMeasure completeMeasure(const cgx_codec &codec, Source source, const void *input, uint64_t begin,
                                     uint64_t end, float minimum, float maximum, RandomKey key,
                                     uint64_t firstElement) {
  BucketMeasure measure = {minimum, maximum, 0.0f, 0};
  if (codec.scaling == CGX_SCALING_L2)
    measure.norm = euclideanNorm(source, input, begin, end);
  if (codec.rounding == CGX_ROUND_RANDOM_SHIFT)
    measure.random = randomHalf(key, firstElement + begin);
  return measure;
}

} // namespace cgx

#endif // CGX_KERNELS_CPU_BUCKETMEASURE_H
