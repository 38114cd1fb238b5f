//===-- Reduce.h - Payloads of several ranks to elements ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an owner does whose result is not encoded right there, and a rank that adds what others sent to what
// it has: contributions are decoded, added in their order in f32, and rounded once to elements.
#ifndef CGX_KERNELS_CUDA_AGENT_REDUCE_H
#define CGX_KERNELS_CUDA_AGENT_REDUCE_H

#include "Encode.h"
#include "TileDecode.h"
#include "Tiles.h"
#include "cgx/kernels/reduce.h"

namespace cgx::cuda {

struct ReduceDescriptor {
  EncodeDescriptor sum; ///< of the contributions
  const void *own;      ///< elements to begin with, or null
  void *output;
  ReduceOp reduction;
};

struct ReduceTable {
  const ReduceDescriptor *descs;
  const PayloadDescriptor *payloads; ///< all contributions
  uint32_t *errors;                  ///< of those

  template <typename ThreadBlock>
  CGX_AGENT bool isSound(const ThreadBlock &threads, const ReduceDescriptor &desc, TileRange range) const {
    return areSound(threads, payloads, desc.sum.contributions, desc.sum.contributionCount, range, errors);
  }
};

/// One of reduce()'s operations, in f32.
CGX_AGENT float combine(ReduceOp reduction, float a, float b) {
  switch (reduction) {
  case ReduceOp::max:
    return b > a || b != b ? b : a;
  case ReduceOp::min:
    return b < a || b != b ? b : a;
  case ReduceOp::product:
    return a * b;
  case ReduceOp::sum:
    break;
  }
  return a + b;
}

/// What contributions are added to. Elements of 16 bits are themselves added to 0, unless all is exact.
CGX_AGENT float beginningOf(const ReduceDescriptor &desc, uint64_t index) {
  const float nothing = emptySum(desc.sum.codec);
  if (!desc.own)
    return nothing;
  const float own = loadElement(sourceOf(desc.sum.type), desc.own, index);
  return desc.sum.type == CGX_F32 ? own : nothing + own;
}

CGX_AGENT float divided(const ReduceDescriptor &desc, float sum) {
  return desc.sum.divisor == 1.0f ? sum : sum / desc.sum.divisor;
}

/// Contributions of which each element can be decoded by itself, a thread for each.
template <typename Family> struct StoreReduced {
  static constexpr uint32_t sharedBytes = 0;
  ReduceTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const ReduceDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t i) { storeElement(desc.sum.type, desc.output, i, reduced(desc, i)); });
  }

private:
  CGX_AGENT static float reduced(const ReduceDescriptor &desc, uint64_t index) {
    const EncodeDescriptor &sum = desc.sum;
    float value = beginningOf(desc, index);
    for (uint32_t i = 0; i < sum.contributionCount; ++i) {
      const PayloadDescriptor &payload = sum.contributions[i];
      const float x = Family::value(sum.codec, sum.type, payload.payload + payload.bodyBegin, sum.sections,
                                    sum.elements, index, largestValue(CGX_F32));
      const bool isFirst = i == 0 && !desc.own && desc.reduction != ReduceOp::sum;
      value = isFirst ? x : combine(desc.reduction, value, x);
    }
    return divided(desc, value);
  }
};

/// Sums of tiles in registers, a thread for each lane.
template <uint32_t bits, uint32_t bucketRows> struct ReduceTiles {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t rows = tileRows(bits);
  ReduceTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const ReduceDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t i) { reduce(desc, uint32_t(i / tileLanes), uint32_t(i % tileLanes)); });
  }

private:
  CGX_AGENT static void reduce(const ReduceDescriptor &desc, uint32_t tile, uint32_t lane) {
    const EncodeDescriptor &sum = desc.sum;
    const uint64_t first = uint64_t(tile) * tileElements(bits) + 2 * lane;
    TilePart<bits> part = {};
    if (desc.own)
      load(desc, first, part);
    for (uint32_t i = 0; i < sum.contributionCount; ++i) {
      const PayloadDescriptor &payload = sum.contributions[i];
      decodeTile<bits, bucketRows>(sum.codec, payload.payload + payload.bodyBegin, sum.sections, sum.tiles,
                                   tile, lane, largestValue(CGX_F32),
                                   [&](uint32_t row, uint32_t column, float low, float high) {
                                     part.row[row].low[column] += low;
                                     part.row[row].high[column] += high;
                                   });
    }
    unrolled<rows>([&](uint32_t row) {
      const RowPart &from = part.row[row];
      storePair(sum.type, desc.output, first + row * packingColumns, divided(desc, from.low[0]),
                divided(desc, from.low[1]));
      storePair(sum.type, desc.output, first + row * packingColumns + 16, divided(desc, from.high[0]),
                divided(desc, from.high[1]));
    });
  }

  CGX_AGENT static void load(const ReduceDescriptor &desc, uint64_t first, TilePart<bits> &part) {
    const Source source = sourceOf(desc.sum.type);
    unrolled<rows>([&](uint32_t row) {
      loadPair(source, desc.own, first + row * packingColumns, part.row[row].low);
      loadPair(source, desc.own, first + row * packingColumns + 16, part.row[row].high);
    });
    if (source == Source::f32)
      return;
    forEachPair<rows>(0, [&](uint32_t row, uint32_t column) {
      part.row[row].low[column] += 0.0f;
      part.row[row].high[column] += 0.0f;
    });
  }
};

/// Before contributions that are decoded as a whole are accumulated in `sums`.
struct BeginSums {
  static constexpr uint32_t sharedBytes = 0;
  ReduceTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const ReduceDescriptor &desc = table.descs[range.desc];
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t i) { desc.sum.sums[i] = beginningOf(desc, i); });
  }
};

/// Behind the last one.
struct StoreSummed {
  static constexpr uint32_t sharedBytes = 0;
  ReduceTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const ReduceDescriptor &desc = table.descs[range.desc];
    const EncodeDescriptor &sum = desc.sum;
    for (uint32_t i = 0; i < sum.contributionCount; ++i)
      if (table.errors[sum.contributions + i - table.payloads] != uint32_t(DecodeError::ok))
        return;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      storeElement(sum.type, desc.output, i, divided(desc, sum.sums[i]));
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_REDUCE_H
