//===-- Reduce.h - Payloads of several ranks to elements ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These agents reduce contributions without encoding the result: for an owner whose result is not encoded at
// once, and for a rank that adds what it received to its own elements. Contributions are decoded, added in
// their order in f32, and rounded once to elements.
#ifndef CGX_KERNELS_CUDA_AGENT_REDUCE_H
#define CGX_KERNELS_CUDA_AGENT_REDUCE_H

#include "Encode.h"
#include "TileDecode.h"
#include "Tiles.h"
#include "cgx/kernels/reduce.h"

namespace cgx::cuda {

struct ReduceDescriptor {
  EncodeDescriptor sum; ///< describes the sum of the contributions
  const void *own;      ///< elements to begin with, or null
  void *output;
  ReduceOp reduction;
};

struct ReduceTable {
  const ReduceDescriptor *descs;
  const PayloadDescriptor *payloads; ///< all contributions
  uint32_t *errors;                  ///< errors of these contributions

  template <typename ThreadBlock>
  CGX_AGENT bool isSound(const ThreadBlock &threads, const ReduceDescriptor &desc, TileRange range) const {
    return areSound(threads, payloads, desc.sum.contributions, desc.sum.contributionCount, range, errors);
  }
};

/// Applies an operation of reduce() in f32.
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

/// Returns what contributions are added to. Own elements of 16 bits are added to 0, or to -0 for lossless
/// codecs.
CGX_AGENT float beginningOf(const ReduceDescriptor &desc, uint64_t index) {
  const float nothing = emptySum(desc.sum.codec);
  if (!desc.own)
    return nothing;
  const float own = loadElement(sourceOf(desc.sum.type), desc.own, index);
  return desc.sum.type == CGX_F32 ? own : nothing + own;
}

/// Reduces contributions whose elements can be decoded one by one, a thread for each element.
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
    return divided(sum, value);
  }
};

/// Reduces tiles in registers, a thread for each lane.
template <uint32_t bits, uint32_t bucketRows, typename Elements> struct ReduceTiles {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t residentBlocks = 2;
  ReduceTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const ReduceDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      reduce(desc, uint32_t(i / tileLanes(bits)), uint32_t(i) % tileLanes(bits));
    });
  }

private:
  CGX_AGENT static void reduce(const ReduceDescriptor &desc, uint32_t tile, uint32_t lane) {
    const EncodeDescriptor &sum = desc.sum;
    const uint64_t first = firstIndex<bits>(tile, lane);
    TilePart<bits> part = {};
    if (desc.own)
      withChosenType<Elements>(sum.type, [&](auto type) {
        loadTile<sourceOf(decltype(type)::value)>(part, desc.own, first, sum.tiles.wide);
        if constexpr (decltype(type)::value != CGX_F32)
          forEachElement(part, [](float &x) { x += 0.0f; });
      });
    sumTile<bits, bucketRows, /*isMultiplied=*/false>(sum, tile, lane, part);
    withChosenType<Elements>(sum.type, [&](auto type) {
      storeTile<decltype(type)::value>(part, desc.output, first, sum.tiles.wide, /*areNumbers=*/false);
    });
  }
};

/// Initializes `sums`, before contributions that are decoded as a whole are added to them.
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

/// Stores the result after the last contribution was added.
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
      storeElement(sum.type, desc.output, i, divided(sum, sum.sums[i]));
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_REDUCE_H
