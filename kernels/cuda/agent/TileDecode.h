//===-- TileDecode.h - Decodes quantize, eight lanes a tile -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_TILEDECODE_H
#define CGX_KERNELS_CUDA_AGENT_TILEDECODE_H

#include "Decode.h"
#include "Tiles.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx::cuda {

/// The map from levels to values, which agrees with levelValue(). It computes once what many levels share.
struct LevelMap {
  BucketScale scale;
  float limit;
  uint32_t kept,
      put;      ///< bits of a value to keep, and bits to set instead: those of NaN if the scale is not finite
  bool isPlain; ///< no value exceeds the limit: all lie between those of the first and of the last level

  CGX_AGENT LevelMap(BucketScale scale, uint32_t bits, float limit)
      : scale(scale), limit(limit), kept(isFiniteScale(scale) ? ~0u : 0u),
        put(~kept & floatBits(quietNan())) {
    const float last = fusedMultiplyAdd(float((1u << bits) - 1u), scale.unit, scale.minimum);
    isPlain =
        floatFromBits(magnitudeBits(scale.minimum)) <= limit && floatFromBits(magnitudeBits(last)) <= limit;
  }

  /// Returns the value of level `number`.
  template <bool isPlain> CGX_AGENT float valueOf(float number) const {
    const float value = fusedMultiplyAdd(number, scale.unit, scale.minimum);
    if constexpr (isPlain)
      return value;
#if defined(__CUDA_ARCH__)
    const float held = fminf(fmaxf(value, -limit), limit); // without branches
#else
    const float held = value > limit ? limit : value < -limit ? -limit : value;
#endif
    return floatFromBits((floatBits(held) & kept) | put);
  }
};

/// Calls take(row, column, low, high) with the values of a lane's elements of a tile. Returns false if they
/// may not be finite.
template <uint32_t bits, uint32_t bucketRows, typename Take>
CGX_AGENT bool decodeTile(const cgx_codec &codec, const uint8_t *body, const Sections &sections,
                          const TileCounts &tiles, uint32_t tile, uint32_t lane, float limit,
                          const Take &take) {
  constexpr uint32_t buckets = tileRows(bits) / bucketRows;
  bool areNumbers = true;
  TileWords<bits> words;
  words.load(body + sections.codes + uint64_t(tile) * (tileElements(bits) / 8 * bits), lane, tiles.aligned);
  unrolled<buckets>([&](uint32_t bucket) {
    const uint32_t number = (tile >> tiles.ofBucketLog) * buckets + bucket;
    const LevelMap map(loadScale(body + sections.scales, codec, number), bits, limit);
    areNumbers = areNumbers && map.isPlain;
    withFlag(map.isPlain, [&](auto isPlain) {
      constexpr bool plain = decltype(isPlain)::value;
      forEachRow<bucketRows>(bucket * bucketRows, [&](uint32_t row) {
        unrolled<tileColumns(bits)>([&](uint32_t column) {
          take(row, column, map.template valueOf<plain>(words.number(row, column, /*isHigh=*/false)),
               map.template valueOf<plain>(words.number(row, column, /*isHigh=*/true)));
        });
      });
    });
  });
  return areNumbers;
}

/// Stores a lane's part of all rows of a tile as elements, from `first` on.
template <cgx_element_type type, uint32_t bits>
CGX_AGENT void storeTile(const TilePart<bits> &part, void *output, uint64_t first, bool isWide,
                         bool areNumbers) {
  withPlace<type != CGX_F32>(isWide, areNumbers, [&](auto wide, auto number) {
    constexpr bool all = decltype(wide)::value, isNumber = decltype(number)::value;
    forEachRow<tileRows(bits)>(0, [&](uint32_t row) {
      const uint64_t index = first + row * packingColumns;
      storeColumns<type, all, isNumber>(output, index, part.row[row].low);
      storeColumns<type, all, isNumber>(output, index + packingColumns / 2, part.row[row].high);
    });
  });
}

template <Source source, uint32_t bits>
CGX_AGENT void loadTile(TilePart<bits> &part, const void *input, uint64_t first, bool isWide) {
  withFlag(isWide, [&](auto wide) {
    forEachRow<tileRows(bits)>(0, [&](uint32_t row) {
      const uint64_t index = first + row * packingColumns;
      loadColumns<source, decltype(wide)::value>(input, index, part.row[row].low);
      loadColumns<source, decltype(wide)::value>(input, index + packingColumns / 2, part.row[row].high);
    });
  });
}

/// Returns the index of a lane's first element of a tile.
template <uint32_t bits> CGX_AGENT uint64_t firstIndex(uint32_t tile, uint32_t lane) {
  return uint64_t(tile) * tileElements(bits) + tileColumns(bits) * lane;
}

template <uint32_t bits, typename Step>
CGX_AGENT void forEachElement(TilePart<bits> &part, const Step &step) {
  forEachRow<tileRows(bits)>(0, [&](uint32_t row) {
    unrolled<tileColumns(bits)>([&](uint32_t column) {
      step(part.row[row].low[column]);
      step(part.row[row].high[column]);
    });
  });
}

/// Adds an owner's contributions to a lane's elements of a tile, and divides. With `isMultiplied`, the
/// division is a multiplication by the reciprocal.
template <uint32_t bits, uint32_t bucketRows, bool isMultiplied>
CGX_AGENT void sumTile(const EncodeDescriptor &desc, uint32_t tile, uint32_t lane, TilePart<bits> &part) {
  for (uint32_t i = 0; i < desc.contributionCount; ++i) {
    const PayloadDescriptor &payload = inGlobalMemory(desc.contributions)[i];
    decodeTile<bits, bucketRows>(desc.codec, payload.payload + payload.bodyBegin, desc.sections, desc.tiles,
                                 tile, lane, largestValue(CGX_F32),
                                 [&](uint32_t row, uint32_t column, float low, float high) {
                                   part.row[row].low[column] += low;
                                   part.row[row].high[column] += high;
                                 });
  }
  if (isMultiplied || desc.reciprocal != 0.0f)
    forEachElement(part, [&](float &x) { x *= desc.reciprocal; });
  else
    forEachElement(part, [&](float &x) { x /= desc.divisor; });
}

/// The type of the elements that are stored: known when a kernel is compiled, or read once for each tile.
template <bool isKnown_, cgx_element_type type_ = CGX_F32> struct TypeChoice {
  static constexpr bool isKnown = isKnown_;
  static constexpr cgx_element_type type = type_;
};

/// Calls step with the chosen type.
template <typename Choice, typename Step>
CGX_AGENT void withChosenType(cgx_element_type type, const Step &step) {
  if constexpr (Choice::isKnown)
    step(Constant<Choice::type>());
  else
    withType(type, step);
}

/// Decodes tiles. `Output`, a TypeChoice, is the type that elements are stored as; accumulators are f32.
template <uint32_t bits, uint32_t bucketRows, Sink sink, typename Output> struct DecodeTiles {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t residentBlocks =
      bits % 2 == 0 ? 3 : 2; ///< 64 elements take more registers than 32
  DecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor desc = table.descs[range.desc]; // a copy, which stays in registers
    if (!table.isSound(threads, desc, range))
      return;
    // Indices count the lanes of tiles.
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      decode(desc, uint32_t(i / tileLanes(bits)), uint32_t(i) % tileLanes(bits));
    });
  }

private:
  CGX_AGENT static void decode(const DecodeDescriptor &desc, uint32_t tile, uint32_t lane) {
    TilePart<bits> part;
    const uint64_t first = firstIndex<bits>(tile, lane);
    if constexpr (sink == Sink::add)
      loadTile<Source::f32>(part, desc.output, first, desc.tiles.wide);
    const bool areNumbers =
        decodeTile<bits, bucketRows>(desc.codec, desc.body, desc.sections, desc.tiles, tile, lane,
                                     largestValue(Output::isKnown ? Output::type : desc.type),
                                     [&](uint32_t row, uint32_t column, float low, float high) {
                                       RowPart<bits> &to = part.row[row];
                                       to.low[column] = sink == Sink::add ? to.low[column] + low : low;
                                       to.high[column] = sink == Sink::add ? to.high[column] + high : high;
                                     });
    withChosenType<Output>(desc.type, [&](auto type) {
      storeTile<decltype(type)::value>(part, desc.output, first, desc.tiles.wide, areNumbers);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TILEDECODE_H
