//===-- LosslessBenchmark.cpp - Lossless against archivers ----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LosslessBenchmark.h"

#include "cgx/kernels/codecs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#ifdef CGX_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef CGX_HAS_ZSTD
#include <zstd.h>
#endif

namespace cgx {
namespace {

using Bytes = std::vector<uint8_t>;

std::vector<float> makeGradient(uint64_t elements) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 1e-3f);
  std::uniform_real_distribution<float> uniform;
  std::vector<float> values(elements);
  const uint64_t pattern = std::min<uint64_t>(elements, 1u << 22);
  for (uint64_t i = 0; i < elements; ++i)
    values[i] = i < pattern ? (uniform(random) < 0.3f ? 0.0f : normal(random)) : values[i - pattern];
  return values;
}

/// Returns the bytes of the values if exponents, zeros among them, had the length of their entropy.
double entropyBytes(const std::vector<float> &values) {
  std::array<double, 256> counts = {};
  double bits = 0;
  for (float value : values) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    ++counts[(word >> 23) & 0xff];
    bits += word << 1 == 0 ? 0 : 24;
  }
  for (double count : counts)
    bits -= count == 0 ? 0 : count * std::log2(count / double(values.size()));
  return bits / 8;
}

/// A way to compress bytes.
struct Method {
  const char *name;
  uint64_t inputBytes;
  std::function<uint64_t()> compress; ///< returns the compressed bytes
  std::function<void()> decompress;
  uint64_t compressedBytes = 0;
  std::vector<double> compressSeconds = {}, decompressSeconds = {};
};

/// Returns the seconds that this thread has run. Other processes disturb them less than wall-clock time.
double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double secondsOf(const std::function<void()> &work) {
  const double begin = threadSeconds();
  work();
  return threadSeconds() - begin;
}

double median(std::vector<double> &seconds) {
  std::nth_element(seconds.begin(), seconds.begin() + long(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

} // namespace

int benchmarkLossless(const Implementation &with) {
  constexpr uint64_t bytes = 256u << 20, elements = bytes / 4, archivedBytes = 16u << 20;
  constexpr int repetitions = 9;
  const std::vector<float> input = makeGradient(elements);
  const cgx_codec codec = {.family = CGX_CODEC_LOSSLESS};
  Bytes payload(cgx_payload_bytes(&codec, CGX_F32, elements), 1);
  struct alignas(64) Line { // the alignment of tensors
    uint8_t bytes[64];
  };
  std::vector<Line> lines(bytes / sizeof(Line));
  uint8_t *const output = lines[0].bytes;
  memset(output, 1, bytes);
  bool isRight = true;

  std::vector<Method> methods;
  methods.push_back({"memcpy", bytes,
                     [&] {
                       memcpy(output, input.data(), bytes);
                       return bytes;
                     },
                     [&] { memcpy(payload.data(), output, bytes); }});
  methods.push_back(
      {with.name, bytes,
       [&] {
         payload.resize(cgx_payload_bytes(&codec, CGX_F32, elements));
         return encode(codec, CGX_F32, input.data(), elements, RandomKey{1}, 0, payload.data(), with);
       },
       [&] {
         uint64_t payloadBytes = statedPayloadBytes(payload.data());
         isRight &=
             decode(codec, CGX_F32, payload.data(), payloadBytes, elements, output, with) == DecodeError::ok;
       }});
#ifdef CGX_HAS_ZSTD
  uint64_t zstdBytes = 0;
  Bytes zstd(ZSTD_compressBound(archivedBytes), 1);
  methods.push_back(
      {"zstd -1", archivedBytes,
       [&] { return zstdBytes = ZSTD_compress(zstd.data(), zstd.size(), input.data(), archivedBytes, 1); },
       [&] { isRight &= ZSTD_decompress(output, archivedBytes, zstd.data(), zstdBytes) == archivedBytes; }});
#endif
#ifdef CGX_HAS_ZLIB
  uLongf zlibBytes = 0;
  Bytes zlib(compressBound(archivedBytes), 1);
  methods.push_back({"zlib -1", archivedBytes,
                     [&] {
                       zlibBytes = zlib.size();
                       isRight &=
                           compress2(zlib.data(), &zlibBytes, reinterpret_cast<const Bytef *>(input.data()),
                                     archivedBytes, 1) == Z_OK;
                       return uint64_t(zlibBytes);
                     },
                     [&] {
                       uLongf made = archivedBytes;
                       isRight &=
                           uncompress(output, &made, zlib.data(), zlibBytes) == Z_OK && made == archivedBytes;
                     }});
#endif

  for (int repetition = 0; repetition < repetitions; ++repetition)
    for (Method &method : methods) {
      if (method.inputBytes == archivedBytes && repetition >= 3) // the archivers take seconds
        continue;
      method.compressSeconds.push_back(secondsOf([&] { method.compressedBytes = method.compress(); }));
      method.decompressSeconds.push_back(secondsOf(method.decompress));
      if (method.inputBytes == bytes || repetition == 0)
        isRight &= memcmp(output, input.data(), method.inputBytes) == 0;
      memset(output, 1, method.inputBytes); // else the next method could pass without decoding
    }

  const double copy = double(bytes) / median(methods[0].compressSeconds);
  std::printf("f32, bell-shaped, 30 %% zeros      smaller   encode GB/s  /memcpy   decode GB/s  /memcpy\n");
  for (Method &method : methods) {
    const double encodeRate = double(method.inputBytes) / median(method.compressSeconds),
                 decodeRate = double(method.inputBytes) / median(method.decompressSeconds);
    std::printf("%-32s %8.3fx %13.2f %8.2f %13.2f %8.2f\n", method.name,
                double(method.inputBytes) / double(method.compressedBytes), encodeRate / 1e9,
                encodeRate / copy, decodeRate / 1e9, decodeRate / copy);
  }
  std::printf("%-32s %8.3fx\n", "entropy of exponents", double(bytes) / entropyBytes(input));
  std::printf("%-32s %8s  %13s %8.2f %13s %8.2f\n", "target", "within 3 %", "", 0.4, "", 0.5);
  if (!isRight)
    std::fprintf(stderr, "cgx-codec-bench: what was decoded is not what was encoded\n");
  return isRight ? 0 : 1;
}

} // namespace cgx
