//===-- RandomProfile.cpp - Profiles like those of real steps -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProfile.h"

#include "cgx/plan/Codec.h"

#include <cmath>
#include <random>

namespace cgx::plan {

static std::string quantize(size_t bits, size_t bucket) {
  return parseCodecLabel("quantize bits=" + std::to_string(bits) + " bucket=" + std::to_string(bucket));
}

Profile randomProfile(uint64_t seed, size_t layers, size_t candidates) {
  std::mt19937_64 random(seed);
  auto uniform = [&](double low, double high) {
    return low + (high - low) * std::uniform_real_distribution<double>()(random);
  };
  Profile profile;
  profile.program = "0123456789abcdef";
  profile.ranks = 4;
  profile.steps = 10;
  double ready = 0;
  for (size_t i = 0; i < layers; ++i) {
    LayerProfile layer;
    layer.layer = "params/l" + std::to_string(i) + "/w";
    layer.kind = "gradient";
    layer.dtype = "f32";
    layer.elements = uint64_t(std::exp(uniform(std::log(1e3), std::log(1e6))));
    layer.collective = int64_t(i / 3);
    layer.position = i;
    layer.readySeconds = ready += uniform(0, 2e-4);
    layer.gradientNorm = std::exp(uniform(-4, 2));
    layer.previousNorm = layer.gradientNorm * uniform(0.2, 1.5);
    double n = double(layer.elements);
    auto add = [&](const std::string &codec, double bits, double error) {
      layer.candidates.push_back({codec, error, std::ceil(n * bits / 8), uniform(0, 2e-8) * n, 0, 0});
    };
    add(kUncompressed, 32 * 6, 0);
    for (size_t k = 0; k + 1 < candidates; ++k) {
      // The first codec has 4 bits; the others follow, with growing buckets.
      size_t bits = k == 0 ? 4 : 1 + k % 8, bucket = 128 << (k / 8);
      if (k % 8 == 3 && k / 8 == 0)
        bits = 8; // 4 bits came first, so 8 take their place
      double error = std::pow(layer.gradientNorm, 2) * std::pow(4.0, -double(bits)) * double(bucket) / 128;
      add(quantize(bits, bucket), 6 * (double(bits) + 32.0 / double(bucket)), error * uniform(0.5, 1.5));
    }
    profile.layers.push_back(std::move(layer));
  }
  return profile;
}

} // namespace cgx::plan
