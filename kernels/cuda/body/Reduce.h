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
#ifndef CGX_KERNELS_CUDA_BODY_REDUCE_H
#define CGX_KERNELS_CUDA_BODY_REDUCE_H

#include "Encode.h"
#include "OctetDecode.h"
#include "Octets.h"
#include "cgx/kernels/reduce.h"

namespace cgx::cuda {

struct ReduceItem {
  EncodeItem sum;  ///< of the contributions
  const void *own; ///< elements to begin with, or null
  void *output;
  ReduceOp reduction;
};

struct ReduceTable {
  const ReduceItem *items;
  const PayloadItem *payloads; ///< all contributions
  uint32_t *errors;            ///< of those

  template <typename Crew>
  CGX_BODY bool isSound(const Crew &crew, const ReduceItem &item, Slice slice) const {
    return areSound(crew, payloads, item.sum.contributions, item.sum.contributionCount, slice, errors);
  }
};

/// One of reduce()'s operations, in f32.
CGX_BODY float combine(ReduceOp reduction, float a, float b) {
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
CGX_BODY float beginningOf(const ReduceItem &item, uint64_t index) {
  const float nothing = emptySum(item.sum.codec);
  if (!item.own)
    return nothing;
  const float own = loadElement(sourceOf(item.sum.type), item.own, index);
  return item.sum.type == CGX_F32 ? own : nothing + own;
}

CGX_BODY float divided(const ReduceItem &item, float sum) {
  return item.sum.divisor == 1.0f ? sum : sum / item.sum.divisor;
}

/// Contributions of which each element can be decoded by itself, a thread for each.
template <typename Family> struct StoreReduced {
  static constexpr uint32_t sharedBytes = 0;
  ReduceTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const ReduceItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    crew.forEachIndex(slice.begin, slice.end,
                      [&](uint64_t i) { storeElement(item.sum.type, item.output, i, reduced(item, i)); });
  }

private:
  CGX_BODY static float reduced(const ReduceItem &item, uint64_t index) {
    const EncodeItem &sum = item.sum;
    float value = beginningOf(item, index);
    for (uint32_t i = 0; i < sum.contributionCount; ++i) {
      const PayloadItem &payload = sum.contributions[i];
      const float x = Family::value(sum.codec, sum.type, payload.payload + payload.bodyBegin, sum.sections,
                                    sum.elements, index, largestValue(CGX_F32));
      const bool isFirst = i == 0 && !item.own && item.reduction != ReduceOp::sum;
      value = isFirst ? x : combine(item.reduction, value, x);
    }
    return divided(item, value);
  }
};

/// Sums of octets in registers, a thread for each lane.
template <uint32_t bits, uint32_t bucketRows> struct ReduceOctets {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t rows = octetRows(bits);
  ReduceTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const ReduceItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    crew.forEachIndex(slice.begin, slice.end,
                      [&](uint64_t i) { reduce(item, uint32_t(i / octetLanes), uint32_t(i % octetLanes)); });
  }

private:
  CGX_BODY static void reduce(const ReduceItem &item, uint32_t octet, uint32_t lane) {
    const EncodeItem &sum = item.sum;
    const uint64_t first = uint64_t(octet) * octetElements(bits) + 2 * lane;
    OctetPart<bits> part = {};
    if (item.own)
      load(item, first, part);
    for (uint32_t i = 0; i < sum.contributionCount; ++i) {
      const PayloadItem &payload = sum.contributions[i];
      decodeOctet<bits, bucketRows>(sum.codec, payload.payload + payload.bodyBegin, sum.sections, sum.octets,
                                    octet, lane, largestValue(CGX_F32),
                                    [&](uint32_t row, uint32_t column, float low, float high) {
                                      part.row[row].low[column] += low;
                                      part.row[row].high[column] += high;
                                    });
    }
    unrolled<rows>([&](uint32_t row) {
      const RowPart &from = part.row[row];
      storePair(sum.type, item.output, first + row * packingColumns, divided(item, from.low[0]),
                divided(item, from.low[1]));
      storePair(sum.type, item.output, first + row * packingColumns + 16, divided(item, from.high[0]),
                divided(item, from.high[1]));
    });
  }

  CGX_BODY static void load(const ReduceItem &item, uint64_t first, OctetPart<bits> &part) {
    const Source source = sourceOf(item.sum.type);
    unrolled<rows>([&](uint32_t row) {
      loadPair(source, item.own, first + row * packingColumns, part.row[row].low);
      loadPair(source, item.own, first + row * packingColumns + 16, part.row[row].high);
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

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const ReduceItem &item = table.items[slice.item];
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) { item.sum.sums[i] = beginningOf(item, i); });
  }
};

/// Behind the last one.
struct StoreSummed {
  static constexpr uint32_t sharedBytes = 0;
  ReduceTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const ReduceItem &item = table.items[slice.item];
    const EncodeItem &sum = item.sum;
    for (uint32_t i = 0; i < sum.contributionCount; ++i)
      if (table.errors[sum.contributions + i - table.payloads] != uint32_t(DecodeError::ok))
        return;
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      storeElement(sum.type, item.output, i, divided(item, sum.sums[i]));
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_REDUCE_H
