//===-- RandomCodecs.cpp - Codecs with any parameters ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomCodecs.h"

#include "cgx/codec_table.h"
#include "cgx/kernels/codecs.h"

#include <array>

namespace cgx::test {

/// Returns a random value of a parameter, within its own range.
static double randomValue(const CodecParameter &parameter, std::mt19937_64 &random) {
  constexpr std::array buckets = {1u, 3u, 31u, 32u, 37u, 64u, 100u, 128u, 256u, 512u, 1000u, 1024u, 4096u};
  const auto below = [&](uint64_t end) { return uint32_t(random() % end); };
  if (!parameter.cases.empty())
    return below(parameter.cases.size());
  if (parameter.isFlag)
    return below(4) == 0;
  if (parameter.number == &cgx_codec::bucket)
    return buckets[below(buckets.size())];
  if (parameter.number == &cgx_codec::bits && parameter.least == 0 && below(2) == 0)
    return 0; // 0 stands for another way of sending elements
  if (parameter.number)
    return parameter.least + below(uint64_t(parameter.most) - parameter.least + 1);
  switch (parameter.range) {
  case RealRange::Share:
    return std::array{0.001f, 0.01f, 0.3f, 0.9f, 1.0f}[below(5)];
  case RealRange::Decay:
    return std::array{0.9f, 0.99f}[below(2)];
  case RealRange::NotNegative:
    return std::array{0.0f, 1e-8f, 1e-3f, 0.1f, 2.0f}[below(5)];
  case RealRange::NoneOrSome:
    return std::array{0.0f, 1e-3f, 0.1f}[below(3)];
  }
  return 0;
}

cgx_codec randomCodec(uint32_t family, cgx_element_type type, std::mt19937_64 &random) {
  // Of some families GPUs have no codec: these run on the host.
  const cgx_codec usual = toCodec(usualCodec(family));
  const bool hasKernels = cgx_codec_has_gpu_kernels(&usual);
  for (;;) {
    CodecValues codec = {family};
    for (size_t i = 0; i < codec.parameters().size(); ++i)
      codec.values[i] = randomValue(codec.parameters()[i], random);
    for (size_t i = 0; i < codec.parameters().size(); ++i)
      if (!codec.has(codec.parameters()[i]))
        codec.values[i] = codec.usual(codec.parameters()[i]);
    const cgx_codec made = toCodec(codec);
    if (checkCodec(made, type).empty() && (!hasKernels || cgx_codec_has_gpu_kernels(&made)))
      return made;
  }
}

std::string describeFields(const cgx_codec &codec) { return describeCodec(codec); }

} // namespace cgx::test
