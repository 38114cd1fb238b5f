//===-- profile/Trial.cpp - Trial of one codec on one gradient --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "profile/Trial.h"

#include "cgx/kernels/codecs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace cgx {

static double squaredDistance(std::span<const float> a, std::span<const float> b) {
  // Several sums are kept, so that the additions need not wait for each other.
  double sums[8] = {};
  size_t whole = a.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) {
      double difference = double(a[i + lane]) - double(b[i + lane]);
      sums[lane] += difference * difference;
    }
  for (size_t i = whole; i < a.size(); ++i) {
    double difference = double(a[i]) - double(b[i]);
    sums[0] += difference * difference;
  }
  double sum = 0;
  for (double part : sums)
    sum += part;
  return sum;
}

Trial::Outcome Trial::run(const cgx_codec &codec, cgx_element_type type, std::span<const float> gradient,
                          RandomKey key) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  if (gradient.empty())
    return {};
  uint64_t most = cgx_payload_bytes(&codec, type, gradient.size());
  payload.resize(std::max(payload.size(), size_t(most)));
  decoded.resize(std::max(decoded.size(), gradient.size()));
  std::span<float> result(decoded.data(), gradient.size());
  std::fill(result.begin(), result.end(), 0.0f);
  Clock::time_point begin = Clock::now();
  uint64_t bytes =
      encodeFromF32(codec, type, gradient.data(), gradient.size(), key, /*firstElement=*/0, payload.data());
  Clock::time_point encoded = Clock::now();
  // Decoding cannot fail, since the bytes have just been encoded.
  (void)decodeAccumulate(codec, type, payload.data(), bytes, gradient.size(), result.data());
  Clock::time_point end = Clock::now();
  double error = squaredDistance(gradient, result);
  return {std::isfinite(error) ? error : std::numeric_limits<double>::infinity(), seconds(begin, encoded),
          seconds(encoded, end), double(bytes) / double(most)};
}

} // namespace cgx
