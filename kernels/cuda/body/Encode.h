//===-- Encode.h - The steps of encoding dense families ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two steps, each a launch for all layers of a group: a warp for each bucket stores its scale; a thread for
// each word or byte of codes computes those, from the elements and the scales. Any family, bucket, width and
// end is encoded so. OctetEncode.h does both in one pass over memory, for shapes that allow it.
#ifndef CGX_KERNELS_CUDA_BODY_ENCODE_H
#define CGX_KERNELS_CUDA_BODY_ENCODE_H

#include "Envelope.h"
#include "Input.h"
#include "cgx/arithmetic/learned_table.h"

namespace cgx::cuda {

/// What the bodies of a group that encodes have in common.
struct EncodeTable {
  const EncodeItem *items;
  const StepState *state;
  const PayloadItem *payloads; ///< all contributions of owners
  uint32_t *errors;            ///< of those

  CGX_BODY RandomKey keyOf(const EncodeItem &item) const {
    return makeRandomKey(state->seed, state->step, item.layerId, item.rank, item.phase + 2 * state->run);
  }

  /// Whether an owner's contributions are sound. Who reads them says so; who reads their sums believes it.
  template <typename Crew>
  CGX_BODY bool isSound(const Crew &crew, const EncodeItem &item, Slice slice) const {
    if (!item.readsSums)
      return areSound(crew, payloads, item.contributions, item.contributionCount, slice, errors);
    return wereSound(item);
  }

  CGX_BODY bool wereSound(const EncodeItem &item) const {
    bool sound = true;
    for (uint32_t i = 0; i < item.contributionCount; ++i)
      sound = sound && errors[item.contributions + i - payloads] == uint32_t(DecodeError::ok);
    return sound;
  }
};

template <typename Family, typename Input> struct StoreScales {
  static constexpr uint32_t sharedBytes = sizeof(RandomKey);
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    RandomKey *key = crew.template shared<RandomKey>();
    crew.once([&] { *key = table.keyOf(item); });
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t bucket) {
      Family::template storeScaleOf<Input>(lanes, item, *key, bucket);
    });
  }
};

template <typename Family, typename Input> struct StoreCodes {
  static constexpr uint32_t sharedBytes = sizeof(RandomKey);
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    RandomKey *key = crew.template shared<RandomKey>();
    crew.once([&] { *key = table.keyOf(item); });
    writeHeader(crew, item, slice);
    crew.forEachIndex(slice.begin, slice.end,
                      [&](uint64_t number) { Family::template storeCodes<Input>(item, *key, number); });
  }
};

/// Fits the table of learned levels, between the two steps. Every element moves what the next one meets, so
/// one thread does that; the others fetch elements for it.
template <typename Input> struct LearnTable {
  static constexpr uint32_t batch = 256;
  static constexpr uint32_t sharedBytes = (batch + maxTableLevels) * sizeof(float);
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    const uint32_t levels = 1u << item.codec.bits;
    const uint64_t stride = item.elements / learnedElements + 1, count = (item.elements - 1) / stride + 1;
    float *shares = crew.template shared<float>(), *learned = shares + batch;
    crew.forEachIndex(0, levels, [&](uint64_t level) { learned[level] = float(level) / float(levels - 1); });
    for (uint64_t begin = 0; begin < count; begin += batch) {
      const uint64_t here = count - begin < batch ? count - begin : batch;
      crew.forEachIndex(0, here, [&](uint64_t i) { shares[i] = shareAt(item, (begin + i) * stride); });
      crew.once([&] {
        for (uint64_t i = 0; i < here; ++i)
          if (shares[i] >= 0.0f)
            learnFrom(learned, levels, shares[i]);
      });
    }
    crew.forEachIndex(0, levels, [&](uint64_t level) {
      storeTo(item.body + item.sections.table + level * sizeof(float), learned[level]);
    });
  }

private:
  /// The share of its bucket's range; negative in a bucket that is not finite.
  CGX_BODY static float shareAt(const EncodeItem &item, uint64_t index) {
    const BucketScale range =
        loadScale(item.body + item.sections.scales, item.codec, uint32_t(index) / item.codec.bucket);
    return isFiniteScale(range) ? shareOfRange(range, Input::load(item, index)) : -1.0f;
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_ENCODE_H
