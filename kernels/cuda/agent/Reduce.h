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
    return divided(sum, value);
  }
};

/// Sums of tiles in registers, a thread for each lane.
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
      storeElement(sum.type, desc.output, i, divided(sum, sum.sums[i]));
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_REDUCE_H
