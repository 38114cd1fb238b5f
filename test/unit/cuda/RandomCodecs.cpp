//===-- RandomCodecs.cpp - Codecs with any parameters ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomCodecs.h"

#include "cgx/kernels/codecs.h"

#include <array>

namespace cgx::test {

cgx_codec randomCodec(uint32_t family, cgx_element_type type, std::mt19937_64 &random) {
  constexpr std::array buckets = {1u, 3u, 31u, 32u, 37u, 64u, 100u, 128u, 256u, 512u, 1000u, 1024u, 4096u};
  const auto below = [&](uint32_t end) { return uint32_t(random() % end); };
  for (;;) {
    cgx_codec codec = {.family = family};
    codec.checksum = family != CGX_CODEC_IDENTITY && below(4) == 0;
    codec.bucket = buckets[below(buckets.size())];
    switch (family) {
    case CGX_CODEC_QUANTIZE:
      codec.bits = 1 + below(8);
      codec.rounding = below(3);
      codec.scale = below(2);
      codec.scaling = below(3);
      codec.levels = below(2) ? uint32_t(CGX_LEVELS_UNIFORM) : below(3);
      break;
    case CGX_CODEC_TERNARY:
      codec.scale = below(2);
      break;
    case CGX_CODEC_SIGN:
      codec.scale = below(2);
      codec.magnitude = below(2);
      break;
    case CGX_CODEC_CAST:
      codec.format = below(6);
      codec.scale = codec.format == CGX_FORMAT_FP8_E4M3 || codec.format == CGX_FORMAT_FP8_E5M2 ? below(2) : 0;
      if (codec.format <= CGX_FORMAT_F16)
        codec.bucket = 0;
      else if (codec.format >= CGX_FORMAT_MXFP8)
        codec.bucket = CGX_MX_BLOCK_ELEMENTS;
      break;
    case CGX_CODEC_TOPK:
    case CGX_CODEC_RANDK:
      codec.bucket = 0;
      codec.density = std::array{0.001f, 0.01f, 0.3f, 0.9f, 1.0f}[below(5)];
      break;
    case CGX_CODEC_THRESHOLD:
      codec.bucket = 0;
      codec.threshold = std::array{0.0f, 1e-3f, 0.5f, 2.0f}[below(4)];
      break;
    case CGX_CODEC_ADAPTIVE_THRESHOLD:
      codec.threshold = std::array{0.01f, 0.5f, 0.9f, 1.0f}[below(4)];
      break;
    case CGX_CODEC_GCOMP:
      codec.bucket = 0;
      codec.optimizer = below(CGX_OPTIMIZER_COUNT);
      codec.truncation = below(CGX_GCOMP_MOST_TRUNCATION + 1);
      codec.learning_rate = std::array{0.0f, 1e-3f, 0.1f}[below(3)]; // 0: the step lends it
      codec.weight_decay = std::array{0.0f, 0.1f}[below(2)];
      codec.momentum = 0.9f;
      codec.beta1 = 0.9f;
      codec.beta2 = 0.99f;
      codec.epsilon = 1e-8f;
      break;
    default:
      codec.bucket = 0;
    }
    if (checkCodec(codec, type).empty())
      return codec;
  }
}

std::string describeFields(const cgx_codec &codec) {
  return "family " + std::to_string(codec.family) + " bits " + std::to_string(codec.bits) + " bucket " +
         std::to_string(codec.bucket) + " rounding " + std::to_string(codec.rounding) + " scale " +
         std::to_string(codec.scale) + " checksum " + std::to_string(codec.checksum) + " scaling " +
         std::to_string(codec.scaling) + " levels " + std::to_string(codec.levels) + " magnitude " +
         std::to_string(codec.magnitude) + " format " + std::to_string(codec.format) + " density " +
         std::to_string(codec.density) + " threshold " + std::to_string(codec.threshold) + " optimizer " +
         std::to_string(codec.optimizer) + " truncation " + std::to_string(codec.truncation) +
         " learning rate " + std::to_string(codec.learning_rate) + " weight decay " +
         std::to_string(codec.weight_decay);
}

} // namespace cgx::test
