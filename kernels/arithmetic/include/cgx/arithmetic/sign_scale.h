//===-- sign_scale.h - The values of the signs of a bucket ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Means of a bucket are computed in an order of additions that vectors can keep: element k of the bucket is
// added to lane k % 16, in f64, and then halves of the lanes are added.
#ifndef CGX_ARITHMETIC_SIGN_SCALE_H
#define CGX_ARITHMETIC_SIGN_SCALE_H

#include "cgx/arithmetic/scale_section.h"

namespace cgx {

struct SignScale {
  float positive; ///< the value of elements that are not negative
  float negative;
};

/// Returns the scale of a bucket of `elements` elements from the finite sums of its elements of either sign.
CGX_DEVICE_INLINE SignScale signScaleOf(const cgx_codec &codec, double positive, double negative,
                                        uint64_t elements, uint64_t negatives) {
  if (codec.magnitude == CGX_SIGN_NORM) {
    const float mean = nearestScale(float((positive - negative) / double(elements)), codec.scale);
    return {mean, -mean};
  }
  const uint64_t positives = elements - negatives;
  return {nearestScale(positives ? float(positive / double(positives)) : 0.0f, codec.scale),
          nearestScale(negatives ? float(negative / double(negatives)) : 0.0f, codec.scale)};
}

struct SignSums {
  static constexpr uint32_t lanes = 16;
  double positive[lanes] = {};
  double negative[lanes] = {};
  uint64_t negatives = 0;
  bool finite = true;

  void add(uint64_t lane, float x) {
    finite = finite && isFinite(x);
    positive[lane] += x < 0.0f ? 0.0 : double(x);
    negative[lane] += x < 0.0f ? double(x) : 0.0;
    negatives += x < 0.0f;
  }

  /// Returns the scale of a bucket of `elements` elements. Overwrites the sums.
  SignScale scaleOf(const cgx_codec &codec, uint64_t elements) {
    if (!finite)
      return {quietNan(), quietNan()};
    for (uint32_t half = lanes / 2; half > 0; half /= 2)
      for (uint32_t lane = 0; lane < half; ++lane) {
        positive[lane] += positive[lane + half];
        negative[lane] += negative[lane + half];
      }
    return signScaleOf(codec, positive[0], negative[0], elements, negatives);
  }
};

inline uint64_t signScaleBytes(const cgx_codec &codec, uint64_t elements) {
  return cgx_sign_body_bytes(&codec, elements) - (elements + 7) / 8;
}

CGX_DEVICE_INLINE void storeSignScale(uint8_t *scales, const cgx_codec &codec, uint64_t bucket,
                                      SignScale scale) {
  if (codec.magnitude == CGX_SIGN_NORM)
    return storeScaleValue(scales, codec.scale, bucket, scale.positive);
  storeScaleValue(scales, codec.scale, 2 * bucket, scale.positive);
  storeScaleValue(scales, codec.scale, 2 * bucket + 1, scale.negative);
}

/// Returns the values, clamped to the limit; both are NaN if one is not finite.
CGX_DEVICE_INLINE SignScale loadSignScale(const uint8_t *scales, const cgx_codec &codec, uint64_t bucket,
                                          float limit) {
  SignScale scale;
  if (codec.magnitude == CGX_SIGN_NORM) {
    scale.positive = loadScaleValue(scales, codec.scale, bucket);
    scale.negative = -scale.positive;
  } else {
    scale.positive = loadScaleValue(scales, codec.scale, 2 * bucket);
    scale.negative = loadScaleValue(scales, codec.scale, 2 * bucket + 1);
  }
  if (!isFinite(scale.positive) || !isFinite(scale.negative))
    return {quietNan(), quietNan()};
  return {holdWithin(scale.positive, limit), holdWithin(scale.negative, limit)};
}

} // namespace cgx

#endif // CGX_ARITHMETIC_SIGN_SCALE_H
