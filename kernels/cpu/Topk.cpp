//===-- kernels/cpu/Topk.cpp - The largest elements -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Positions.h"
#include "SparseBody.h"

#include <array>

namespace cgx {
namespace {

/// What separates the elements that are sent: those of a larger magnitude are, and the first `ties` of this
/// one.
struct Cut {
  uint32_t magnitude;
  uint64_t ties;
};

/// Counts what digits the magnitudes have. Four counters take turns: equal neighbours do not wait for each
/// other.
class Histogram {
public:
  void add(uint64_t turn, uint32_t digit) { ++counts[turn & 3][digit]; }

  /// The digit of the `wanted`-th largest; `wanted` becomes its place among those of that digit.
  uint32_t find(uint64_t &wanted) const {
    for (uint32_t digit = digits; digit-- > 0;) {
      uint64_t count = 0;
      for (const auto &counter : counts)
        count += counter[digit];
      if (count >= wanted)
        return digit;
      wanted -= count;
    }
    return 0;
  }

private:
  static constexpr uint32_t digits = 1 << 11;
  std::array<std::array<uint32_t, digits>, 4> counts = {};
};

/// Selects by radix, without moving an element: 11 bits of the magnitude, 11 more among the elements that
/// have those, then the last 9.
template <typename Magnitude> Cut findCut(uint64_t elements, uint64_t count, const Magnitude &magnitude) {
  uint64_t wanted = count;
  Histogram first;
  uint64_t i = 0;
  for (; i + 4 <= elements; i += 4)
    for (uint64_t turn = 0; turn < 4; ++turn)
      first.add(turn, magnitude(i + turn) >> 20);
  for (; i < elements; ++i)
    first.add(0, magnitude(i) >> 20);
  uint32_t prefix = first.find(wanted);
  Histogram second;
  forEachWanted(
      elements, [&](uint64_t i) { return magnitude(i) >> 20 == prefix; },
      [&](uint64_t i) { second.add(i, (magnitude(i) >> 9) & 0x7ff); });
  prefix = prefix << 11 | second.find(wanted);
  Histogram third;
  forEachWanted(
      elements, [&](uint64_t i) { return magnitude(i) >> 9 == prefix; },
      [&](uint64_t i) { third.add(i, magnitude(i) & 0x1ff); });
  return {prefix << 9 | third.find(wanted), wanted};
}

template <typename Load> void encodeFrom(const EncodeArguments &arguments, const Load &load) {
  const uint64_t elements = arguments.elements, count = cgx_sparse_count(arguments.codec, elements);
  const auto value = [&](uint64_t i) { return load(arguments.input, i); };
  const auto magnitude = [&](uint64_t i) { return magnitudeBits(value(i)); };
  const Cut cut = findCut(elements, count, magnitude);
  // NaNs and infinities are larger than numbers. When they fill all places, some may be left out.
  storeRest(arguments.body, cut.magnitude < infinityBits);
  PositionsWriter positions(elements, count, arguments.body + 4);
  uint8_t *values = arguments.body + 4 + cgx_position_bytes(elements, count);
  uint64_t sent = 0, ties = 0;
  forEachWanted(
      elements, [&](uint64_t i) { return magnitude(i) >= cut.magnitude; },
      [&](uint64_t i) {
        if (magnitude(i) == cut.magnitude && ties++ >= cut.ties)
          return;
        positions.add(i);
        storeElement(arguments.type, values, sent++, value(i));
      });
}

uint64_t encode(const EncodeArguments &arguments) {
  withSource(arguments.source, [&](auto load) { encodeFrom(arguments, load); });
  return cgx_topk_body_bytes(arguments.codec, arguments.type, arguments.elements);
}

template <typename Put> DecodeError decodeWith(const DecodeArguments &arguments, const Put &put) {
  const uint64_t count = cgx_sparse_count(arguments.codec, arguments.elements);
  const PositionsReader positions(arguments.elements, count, arguments.body + 4);
  if (!positions.isWellFormed())
    return DecodeError::malformed;
  put(arguments.body + 4 + cgx_position_bytes(arguments.elements, count),
      [&](const auto &take) { positions.forEach(take); });
  return DecodeError::ok;
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return decodeWith(arguments, [&](const uint8_t *values, const auto &forEachSent) {
    storeSparse(arguments, loadRest(arguments.body), values, output, forEachSent);
  });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return decodeWith(arguments, [&](const uint8_t *values, const auto &forEachSent) {
    addSparse(arguments, loadRest(arguments.body), values, accumulator, forEachSent);
  });
}

} // namespace

const BodyKernels topkReference = {encode, decode, decodeAccumulate};

} // namespace cgx
