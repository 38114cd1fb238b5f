//===-- OctetDecode.h - quantize back, eight lanes an octet ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_OCTETDECODE_H
#define CGX_KERNELS_CUDA_BODY_OCTETDECODE_H

#include "Decode.h"
#include "Octets.h"
#include "Pairs.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx::cuda {

/// levelValue() of many levels: what does not depend on the level is done once.
struct LevelMap {
  BucketScale scale;
  float limit;
  bool finite;

  CGX_BODY LevelMap(BucketScale scale, float limit)
      : scale(scale), limit(limit), finite(isFiniteScale(scale)) {}

  CGX_BODY float valueOf(uint32_t level) const {
    // The level behind 2^23: a number without a conversion, which a GPU is slow at.
    const float number = floatFromBits(floatBits(8388608.0f) | level) - 8388608.0f;
    const float value = fusedMultiplyAdd(number, scale.unit, scale.minimum);
    const float held = value > limit ? limit : value < -limit ? -limit : value;
    return finite ? held : quietNan();
  }
};

/// Calls take(row, column, low, high) with the values of the elements that a lane has of an octet.
template <uint32_t bits, uint32_t bucketRows, typename Take>
CGX_BODY void decodeOctet(const cgx_codec &codec, const uint8_t *body, const Sections &sections,
                          const OctetRange &octets, uint32_t octet, uint32_t lane, float limit,
                          const Take &take) {
  constexpr uint32_t rows = octetRows(bits), buckets = rows / bucketRows;
  OctetWords<bits> words;
  words.load(body + sections.codes + uint64_t(octet) * (octetElements(bits) / 8 * bits), lane,
             octets.aligned);
  unrolled<buckets>([&](uint32_t bucket) {
    const uint64_t number = uint64_t(octet / octets.ofBucket) * buckets + bucket;
    const LevelMap map(loadScale(body + sections.scales, codec, number), limit);
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      uint32_t low, high;
      words.take(row, column, low, high);
      take(row, column, map.valueOf(low), map.valueOf(high));
    });
  });
}

template <uint32_t bits, uint32_t bucketRows, Sink sink> struct DecodeOctets {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t rows = octetRows(bits);
  DecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem item = table.items[slice.item]; // a copy: in registers
    if (!table.isSound(crew, item, slice))
      return;
    // Indices are lanes of octets.
    crew.forEachIndex(slice.begin, slice.end,
                      [&](uint64_t i) { decode(item, uint32_t(i / octetLanes), uint32_t(i % octetLanes)); });
  }

private:
  CGX_BODY static void decode(const DecodeItem &item, uint32_t octet, uint32_t lane) {
    OctetPart<bits> part;
    const float limit = largestValue(sink == Sink::add ? CGX_F32 : item.type);
    const uint64_t first = uint64_t(octet) * octetElements(bits) + 2 * lane;
    if constexpr (sink == Sink::add)
      unrolled<rows>([&](uint32_t row) {
        loadPair(Source::f32, item.output, first + row * packingColumns, part.row[row].low);
        loadPair(Source::f32, item.output, first + row * packingColumns + 16, part.row[row].high);
      });
    decodeOctet<bits, bucketRows>(item.codec, item.body, item.sections, item.octets, octet, lane, limit,
                                  [&](uint32_t row, uint32_t column, float low, float high) {
                                    RowPart &to = part.row[row];
                                    to.low[column] = sink == Sink::add ? to.low[column] + low : low;
                                    to.high[column] = sink == Sink::add ? to.high[column] + high : high;
                                  });
    const cgx_element_type type = sink == Sink::add ? CGX_F32 : item.type;
    unrolled<rows>([&](uint32_t row) {
      const RowPart &from = part.row[row];
      storePair(type, item.output, first + row * packingColumns, from.low[0], from.low[1]);
      storePair(type, item.output, first + row * packingColumns + 16, from.high[0], from.high[1]);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_OCTETDECODE_H
