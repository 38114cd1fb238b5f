//===-- Inputs.cpp - Inputs of the kernels' tests -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/arithmetic/quantize.h"

#include <cstdlib>
#include <limits>

namespace cgx::test {

uint64_t testSeed() {
  const char *text = std::getenv("CGX_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20240607;
}

const char *shapeName(Shape shape) {
  switch (shape) {
  case Shape::gradient:
    return "gradient";
  case Shape::uniform:
    return "uniform";
  case Shape::wide:
    return "wide";
  case Shape::huge:
    return "huge";
  case Shape::tiny:
    return "tiny";
  case Shape::constant:
    return "constant";
  case Shape::offset:
    return "offset";
  case Shape::poisoned:
    return "poisoned";
  }
  return "unknown";
}

std::vector<float> makeFloats(Shape shape, uint64_t elements, std::mt19937_64 &random) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  const float one = normal(random);
  std::vector<float> values(elements);
  for (float &value : values) {
    switch (shape) {
    case Shape::gradient:
      value = random() % 3 == 0 ? 0.0f : normal(random) * 1e-3f;
      break;
    case Shape::uniform:
      value = uniform(random);
      break;
    case Shape::wide:
      do
        value = floatFromBits(uint32_t(random()));
      while (!isFinite(value));
      break;
    case Shape::huge:
      value = uniform(random) * 3e38f;
      break;
    case Shape::tiny:
      value = floatFromBits(uint32_t(random()) & 0x80ffffffu);
      break;
    case Shape::constant:
      value = one;
      break;
    case Shape::offset:
      value = 100.0f + uniform(random) * 1e-3f;
      break;
    case Shape::poisoned:
      value = normal(random);
      if (random() % 701 == 0)
        value = random() % 2 ? std::numeric_limits<float>::quiet_NaN()
                             : std::copysign(std::numeric_limits<float>::infinity(), value);
      break;
    }
  }
  return values;
}

std::vector<uint8_t> toElements(cgx_element_type type, const std::vector<float> &values) {
  const cgx_codec identity = {};
  std::vector<uint8_t> bytes(cgx_payload_bytes(&identity, type, values.size()));
  encodeFromF32(identity, type, values.data(), values.size(), RandomKey{0}, 0, bytes.data());
  return bytes;
}

std::vector<float> toFloats(cgx_element_type type, const void *elements, uint64_t count) {
  std::vector<float> values(count);
  const uint8_t *bytes = static_cast<const uint8_t *>(elements);
  for (uint64_t i = 0; i < count; ++i) {
    uint16_t half;
    if (type == CGX_F32) {
      memcpy(&values[i], bytes + i * 4, 4);
    } else {
      memcpy(&half, bytes + i * 2, 2);
      values[i] = type == CGX_F16 ? floatFromFloat16(half) : floatFromBfloat16(half);
    }
  }
  return values;
}

cgx_codec quantizeCodec(uint32_t bits, uint32_t bucket, cgx_rounding rounding, cgx_scale_type scale,
                        bool checksum) {
  return {.family = CGX_CODEC_QUANTIZE,
          .bits = bits,
          .bucket = bucket,
          .rounding = uint32_t(rounding),
          .scale = uint32_t(scale),
          .checksum = checksum ? 1u : 0u};
}

std::string describe(const cgx_codec &codec) {
  return "quantize " + std::to_string(codec.bits) + " bits, bucket " + std::to_string(codec.bucket) + ", " +
         (codec.rounding == CGX_ROUND_STOCHASTIC ? "stochastic" : "nearest") + ", " +
         (codec.scale == CGX_SCALE_BF16 ? "bf16" : "f32") + (codec.checksum ? ", checksum" : "");
}

std::vector<const Implementation *> supportedImplementations() {
  std::vector<const Implementation *> supported;
  for (const Implementation *implementation : implementations())
    if (implementation->isSupported())
      supported.push_back(implementation);
  return supported;
}

} // namespace cgx::test
