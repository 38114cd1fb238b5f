//===-- SmallFamilies.h - ternary, sign, natural, cast and identity ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_SMALLFAMILIES_H
#define CGX_KERNELS_CUDA_AGENT_SMALLFAMILIES_H

#include "Input.h"
#include "cgx/arithmetic/bit_plane.h"
#include "cgx/arithmetic/cast_sections.h"
#include "cgx/arithmetic/natural.h"
#include "cgx/arithmetic/scale_section.h"
#include "cgx/arithmetic/sign_scale.h"
#include "cgx/arithmetic/ternary.h"

namespace cgx::cuda {

struct Ternary {
  static constexpr bool hasBuckets = true;

  template <typename Input, typename Warp>
  CGX_AGENT static void storeScaleOf(const Warp &lanes, const EncodeDescriptor &desc, RandomKey,
                                     uint64_t bucket) {
    const uint64_t begin = bucket * desc.codec.bucket;
    const uint32_t largest = largestBits<Input>(lanes, desc, begin, bucketEnd(desc, begin));
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0)
        storeScaleValue(desc.body + desc.sections.scales, desc.codec.scale, bucket,
                        scaleNotBelow(floatFromBits(largest), desc.codec.scale));
    });
  }

  /// Returns the bytes of a bit plane.
  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) {
    return planeBytes(desc.elements);
  }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey key, uint64_t byte) {
    uint32_t kept = 0, negative = 0;
    for (uint64_t i = byte * 8; i < byte * 8 + 8 && i < desc.elements; ++i) {
      const float scale =
          loadScaleValue(desc.body + desc.sections.scales, desc.codec.scale, uint32_t(i) / desc.codec.bucket);
      if (!isFinite(scale))
        continue;
      const float x = Input::load(desc, i);
      const uint32_t share = shareOf(makeShareMap(scale), floatFromBits(magnitudeBits(x)));
      kept |= uint32_t(isKept(share, randomHalf(key, desc.firstElement + i))) << (i % 8);
      negative |= uint32_t(x < 0.0f) << (i % 8);
    }
    desc.body[desc.sections.codes + byte] = uint8_t(kept);
    desc.body[desc.sections.negative + byte] = uint8_t(negative);
  }

  CGX_AGENT static float value(const cgx_codec &codec, cgx_element_type, const uint8_t *body,
                               const Sections &sections, uint64_t, uint64_t index, float limit) {
    const float scale = holdWithin(
        loadScaleValue(body + sections.scales, codec.scale, uint32_t(index) / codec.bucket), limit);
    if (!loadBit(body + sections.codes, index))
      return isFinite(scale) ? 0.0f : scale;
    return loadBit(body + sections.negative, index) ? -scale : scale;
  }
};

struct Sign {
  static constexpr bool hasBuckets = true;

  /// Stores the means, added in the order of SignSums: lanes 0 to 15 add elements that are not negative, the
  /// others the negative ones.
  template <typename Input, typename Warp>
  CGX_AGENT static void storeScaleOf(const Warp &lanes, const EncodeDescriptor &desc, RandomKey,
                                     uint64_t bucket) {
    const uint64_t begin = bucket * desc.codec.bucket, end = bucketEnd(desc, begin);
    PerLane<Warp, double> sums;
    PerLane<Warp, uint32_t> negatives;
    PerLane<Warp, bool> spoiled;
    lanes.forEach([&](uint32_t lane) {
      sums[lane] = 0.0;
      negatives[lane] = 0;
      spoiled[lane] = false;
      for (uint64_t i = begin + lane % 16; i < end; i += 16) {
        const float x = Input::load(desc, i);
        const bool isNegative = x < 0.0f;
        spoiled[lane] = spoiled[lane] || !isFinite(x);
        sums[lane] += isNegative == (lane >= 16) ? double(x) : 0.0;
        negatives[lane] += isNegative && lane < 16;
      }
    });
    const bool finite = lanes.ballot(spoiled) == 0;
    sums = combineLanes(lanes, sums, 16, [](double a, double b) { return a + b; });
    negatives = combineLanes(lanes, negatives, laneCount, [](uint32_t a, uint32_t b) { return a + b; });
    const PerLane<Warp, double> other = lanes.shuffleXor(sums, 16);
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0)
        storeSignScale(desc.body + desc.sections.scales, desc.codec, bucket,
                       finite ? signScaleOf(desc.codec, sums[lane], other[lane], end - begin, negatives[lane])
                              : SignScale{quietNan(), quietNan()});
    });
  }

  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) {
    return planeBytes(desc.elements);
  }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey, uint64_t byte) {
    const uint8_t *scales = desc.body + desc.sections.scales;
    desc.body[desc.sections.negative + byte] = planeByte(byte, desc.elements, [&](uint64_t i) {
      const uint32_t bucket = uint32_t(i) / desc.codec.bucket;
      const uint32_t first = desc.codec.magnitude == CGX_SIGN_NORM ? bucket : 2 * bucket;
      return isFinite(loadScaleValue(scales, desc.codec.scale, first)) && Input::load(desc, i) < 0.0f;
    });
  }

  CGX_AGENT static float value(const cgx_codec &codec, cgx_element_type, const uint8_t *body,
                               const Sections &sections, uint64_t, uint64_t index, float limit) {
    const SignScale scale =
        loadSignScale(body + sections.scales, codec, uint32_t(index) / codec.bucket, limit);
    return loadBit(body + sections.negative, index) ? scale.negative : scale.positive;
  }
};

struct Natural {
  static constexpr bool hasBuckets = false;

  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) {
    return planeBytes(desc.elements);
  }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey key, uint64_t byte) {
    desc.body[desc.sections.negative + byte] = planeByte(byte, desc.elements, [&](uint64_t i) {
      const float x = Input::load(desc, i);
      desc.body[desc.sections.codes + i] =
          uint8_t(naturalExponent(x, randomHalf(key, desc.firstElement + i)));
      return x < 0.0f;
    });
  }

  CGX_AGENT static float value(const cgx_codec &, cgx_element_type, const uint8_t *body,
                               const Sections &sections, uint64_t, uint64_t index, float limit) {
    return naturalValue(body[sections.codes + index], loadBit(body + sections.negative, index), limit);
  }
};

/// Casts to 16 bits: elements without a scale.
struct CastTo16 {
  static constexpr bool hasBuckets = false;

  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) { return desc.elements; }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey, uint64_t index) {
    storeElement(desc.codec.format == CGX_FORMAT_BF16 ? CGX_BF16 : CGX_F16, desc.body + desc.sections.codes,
                 index, Input::load(desc, index));
  }

  CGX_AGENT static float value(const cgx_codec &codec, cgx_element_type, const uint8_t *body,
                               const Sections &sections, uint64_t, uint64_t index, float limit) {
    const Source stored = codec.format == CGX_FORMAT_BF16 ? Source::bf16 : Source::f16;
    const float x = loadElement(stored, body + sections.codes, index);
    return isFinite(x) ? holdWithin(x, limit) : x;
  }
};

/// Casts to formats with a scale for each bucket.
struct CastScaled {
  static constexpr bool hasBuckets = true;

  template <typename Input, typename Warp>
  CGX_AGENT static void storeScaleOf(const Warp &lanes, const EncodeDescriptor &desc, RandomKey,
                                     uint64_t bucket) {
    const uint64_t begin = bucket * desc.codec.bucket;
    const uint32_t largest = largestBits<Input>(lanes, desc, begin, bucketEnd(desc, begin));
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0)
        (void)storeCastScale(desc.body + desc.sections.scales, desc.codec, bucket, largest);
    });
  }

  /// Returns the bytes of codes.
  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) {
    return desc.codec.format == CGX_FORMAT_MXFP4 ? (desc.elements + 1) / 2 : desc.elements;
  }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey, uint64_t byte) {
    uint8_t *codes = desc.body + desc.sections.codes;
    if (desc.codec.format != CGX_FORMAT_MXFP4) {
      codes[byte] = uint8_t(codeOf<Input>(desc, byte));
      return;
    }
    // The two elements of a byte are 16 apart in whole blocks of 32, else neighbours.
    const bool isWhole = byte / 16 < desc.elements / 32;
    const uint64_t low = isWhole ? byte / 16 * 32 + byte % 16 : byte * 2, high = low + (isWhole ? 16 : 1);
    codes[byte] =
        uint8_t(codeOf<Input>(desc, low) | (high < desc.elements ? codeOf<Input>(desc, high) : 0) << 4);
  }

  CGX_AGENT static float value(const cgx_codec &codec, cgx_element_type, const uint8_t *body,
                               const Sections &sections, uint64_t elements, uint64_t index, float limit) {
    const float scale = loadCastScale(body + sections.scales, codec, uint32_t(index) / codec.bucket);
    const MiniFormat format = miniFormatOf(codec);
    return castValue(format, scale, loadCode(format, body + sections.codes, index, elements), limit);
  }

private:
  template <typename Input> CGX_AGENT static uint32_t codeOf(const EncodeDescriptor &desc, uint64_t index) {
    const uint32_t bucket = uint32_t(index) / desc.codec.bucket;
    const uint8_t *scales = desc.body + desc.sections.scales;
    float factor;
    if (isMx(desc.codec))
      factor = scales[bucket] == 255 ? quietNan() : mxFactor(scales[bucket]);
    else
      factor = miniFactor(loadScaleValue(scales, desc.codec.scale, bucket));
    return isFinite(factor) ? miniCode(miniFormatOf(desc.codec), Input::load(desc, index) * factor) : 0;
  }
};

/// Copies uncompressed elements of any type.
struct Identity {
  static constexpr bool hasBuckets = false;

  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) { return desc.elements; }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey, uint64_t index) {
    const bool isSum =
        desc.contributions || desc.source == Source::f32ToF16 || desc.source == Source::f32ToBf16;
    if (isSum)
      storeElement(desc.type, desc.body, index, Input::load(desc, index));
    else
      copyElement(desc.type, desc.body, static_cast<const uint8_t *>(desc.input), index);
  }

  /// Copies the bits of an element, also those of NaNs.
  CGX_AGENT static void copyElement(cgx_element_type type, void *to, const uint8_t *from, uint64_t index) {
    uint8_t *target = static_cast<uint8_t *>(to);
    switch (cgx_element_bytes(type)) {
    case 8:
      return storeTo(target + index * 8, loadFrom<uint64_t>(from + index * 8));
    case 4:
      return storeTo(target + index * 4, loadFrom<uint32_t>(from + index * 4));
    case 2:
      return storeTo(target + index * 2, loadFrom<uint16_t>(from + index * 2));
    default:
      target[index] = from[index];
    }
  }

  CGX_AGENT static float value(const cgx_codec &, cgx_element_type type, const uint8_t *body,
                               const Sections &, uint64_t, uint64_t index, float) {
    return loadElement(type == CGX_F16    ? Source::f16
                       : type == CGX_BF16 ? Source::bf16
                                          : Source::f32,
                       body, index);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_SMALLFAMILIES_H
