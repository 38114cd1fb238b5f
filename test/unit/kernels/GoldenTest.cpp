//===-- GoldenTest.cpp - Payloads keep their bits -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are checksums of payloads as the version of 21 November 2026 wrote them, and of eden as it first was:
// programs of two versions of cgx may meet in one job, and files outlive both.

#include "cgx/arithmetic/checksum.h"
#include "cgx/kernels/codecs.h"

#include <gtest/gtest.h>

#include <vector>

namespace cgx {
namespace {

struct Golden {
  cgx_codec codec;
  uint64_t bytes, sum; ///< bytes and checksum of the payload
};

const Golden golden[] = {
    {{.family = CGX_CODEC_IDENTITY}, 4012, 0xa67118b59e3dd41b},
    {{.family = CGX_CODEC_QUANTIZE, .bits = 4, .bucket = 128, .rounding = CGX_ROUND_STOCHASTIC},
     542,
     0x43ad9db154a39e93},
    {{.family = CGX_CODEC_QUANTIZE, .bits = 8, .bucket = 100, .scale = CGX_SCALE_F32, .checksum = 1},
     1107,
     0xaf32645c7d27b27},
    {{.family = CGX_CODEC_QUANTIZE,
      .bits = 3,
      .bucket = 64,
      .rounding = CGX_ROUND_RANDOM_SHIFT,
      .scale = CGX_SCALE_F32},
     513,
     0x83625352cc804e08},
    {{.family = CGX_CODEC_QUANTIZE, .bits = 4, .bucket = 128, .scaling = CGX_SCALING_L2},
     526,
     0xbea055d7dda317eb},
    {{.family = CGX_CODEC_QUANTIZE,
      .bits = 4,
      .bucket = 128,
      .scaling = CGX_SCALING_MAX_ABS,
      .levels = CGX_LEVELS_EXPONENTIAL},
     526,
     0x54259edad29089ec},
    {{.family = CGX_CODEC_QUANTIZE, .bits = 3, .bucket = 128, .levels = CGX_LEVELS_LEARNED},
     449,
     0x649bce44365f38b2},
    {{.family = CGX_CODEC_TERNARY, .bucket = 77}, 288, 0xcc42d08cdb8c599c},
    {{.family = CGX_CODEC_SIGN, .bucket = 512}, 142, 0xea38e360f129ccea},
    {{.family = CGX_CODEC_SIGN, .bucket = 512, .magnitude = CGX_SIGN_NORM}, 138, 0x7776e212c78dab05},
    {{.family = CGX_CODEC_NATURAL, .checksum = 1}, 1145, 0xf36a0c94536dfe80},
    {{.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}, 2014, 0xcc1d2ff9f4c7a39c},
    {{.family = CGX_CODEC_CAST, .bucket = 128, .format = CGX_FORMAT_FP8_E4M3}, 1027, 0x3396601a5d53bae3},
    {{.family = CGX_CODEC_CAST, .bucket = 32, .format = CGX_FORMAT_MXFP8}, 1043, 0xaf0e0cd9ecd1c3c5},
    {{.family = CGX_CODEC_CAST, .bucket = 32, .format = CGX_FORMAT_MXFP4}, 542, 0xd06ef446ed92441c},
    {{.family = CGX_CODEC_TOPK, .density = 0.01f}, 64, 0xbdd843e660c92baa},
    {{.family = CGX_CODEC_TOPK, .bits = 4, .bucket = 256, .density = 0.05f}, 94, 0xa893a45118920062},
    {{.family = CGX_CODEC_RANDK, .density = 0.3f}, 1224, 0x57d1378168b7e25},
    {{.family = CGX_CODEC_THRESHOLD, .threshold = 0.5f}, 2866, 0x8776a42f546d28a2},
    {{.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = 50, .threshold = 0.6f}, 804, 0x93240d4e44451f1},
    {{.family = CGX_CODEC_LOSSLESS}, 3384, 0x95d4ab72ca1309db},
    {{.family = CGX_CODEC_GCOMP, .truncation = 4, .learning_rate = 0.01f}, 3632, 0x5e202dba0bf66bb2},
    {{.family = CGX_CODEC_EDEN, .bits = 4, .bucket = 128}, 544, 0x3b0ccc1b0e5255f},
    {{.family = CGX_CODEC_EDEN, .bits = 3, .bucket = 1024, .scale = CGX_SCALE_F32, .checksum = 1},
     412,
     0xb36701e8a5ffde63},
};

/// Returns nearly bell-shaped data, equal on every machine.
std::vector<float> makeInput() {
  std::vector<float> values(1003);
  uint64_t x = 1;
  for (float &value : values) {
    value = 0;
    for (int i = 0; i < 4; ++i)
      value += float(int32_t((x = mixBits(x + 0x9e3779b97f4a7c15ull)) >> 40) - (1 << 23)) * 0x1p-23f;
  }
  return values;
}

TEST(Golden, PayloadsKeepTheirBits) {
  const std::vector<float> input = makeInput();
  for (const Golden &of : golden) {
    std::vector<uint64_t> payload(cgx_payload_bytes(&of.codec, CGX_F32, input.size()) / 8 + 1);
    const uint64_t bytes =
        encode(of.codec, CGX_F32, input.data(), input.size(), RandomKey{42}, 4096, payload.data());
    const uint64_t sum = checksum(payload.data(), bytes);
    EXPECT_EQ(bytes, of.bytes) << "codec " << &of - golden << " of family " << of.codec.family;
    EXPECT_EQ(sum, of.sum) << "codec " << &of - golden << " of family " << of.codec.family;
  }
}

} // namespace
} // namespace cgx
