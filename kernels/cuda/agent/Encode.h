//===-- Encode.h - The steps of encoding dense families ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encoding takes two steps, each one launch for all layers of a group. First a warp for each bucket stores
// its scale; then a thread for each word or byte of codes computes it from the elements and the scales. This
// works for any family, bucket, width and number of elements. TileEncode.h does both in one pass over memory,
// for shapes that allow it.
#ifndef CGX_KERNELS_CUDA_AGENT_ENCODE_H
#define CGX_KERNELS_CUDA_AGENT_ENCODE_H

#include "Envelope.h"
#include "Input.h"
#include "cgx/arithmetic/learned_table.h"

namespace cgx::cuda {

/// The data that all agents of an encoding group share.
struct EncodeTable {
  const EncodeDescriptor *descs;
  const StepState *state;
  const PayloadDescriptor *payloads; ///< all contributions of owners
  uint32_t *errors;                  ///< errors of these contributions

  CGX_AGENT RandomKey keyOf(const EncodeDescriptor &desc) const {
    return makeRandomKey(state->seed, state->step, desc.layerId, desc.rank, desc.phase + 2 * state->run);
  }

  /// Returns whether an owner's contributions are sound. An agent that reads them checks them and records
  /// errors; an agent that reads their sums reads the record.
  template <typename ThreadBlock>
  CGX_AGENT bool isSound(const ThreadBlock &threads, const EncodeDescriptor &desc, TileRange range) const {
    if (!desc.readsSums)
      return areSound(threads, payloads, desc.contributions, desc.contributionCount, range, errors);
    return wereSound(desc);
  }

  CGX_AGENT bool wereSound(const EncodeDescriptor &desc) const {
    bool sound = true;
    for (uint32_t i = 0; i < desc.contributionCount; ++i)
      sound = sound && errors[desc.contributions + i - payloads] == uint32_t(DecodeError::ok);
    return sound;
  }
};

template <typename Family, typename Input> struct StoreScales {
  static constexpr uint32_t sharedBytes = sizeof(RandomKey);
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    RandomKey *key = threads.template shared<RandomKey>();
    threads.once([&] { *key = table.keyOf(desc); });
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t bucket) {
      Family::template storeScaleOf<Input>(lanes, desc, *key, bucket);
    });
  }
};

template <typename Family, typename Input> struct StoreCodes {
  static constexpr uint32_t sharedBytes = sizeof(RandomKey);
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    RandomKey *key = threads.template shared<RandomKey>();
    threads.once([&] { *key = table.keyOf(desc); });
    writeHeader(threads, desc, range);
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t number) { Family::template storeCodes<Input>(desc, *key, number); });
  }
};

/// Fits the table of learned levels, between the two steps. Every element moves the levels that the next one
/// meets, so one thread does this; the others fetch elements for it.
template <typename Input> struct LearnTable {
  static constexpr uint32_t batch = 256;
  static constexpr uint32_t sharedBytes = (batch + maxTableLevels) * sizeof(float);
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    const uint32_t levels = 1u << desc.codec.bits;
    const uint64_t stride = desc.elements / learnedElements + 1, count = (desc.elements - 1) / stride + 1;
    float *shares = threads.template shared<float>(), *learned = shares + batch;
    threads.forEachIndex(0, levels,
                         [&](uint64_t level) { learned[level] = float(level) / float(levels - 1); });
    for (uint64_t begin = 0; begin < count; begin += batch) {
      const uint64_t here = count - begin < batch ? count - begin : batch;
      threads.forEachIndex(0, here, [&](uint64_t i) { shares[i] = shareAt(desc, (begin + i) * stride); });
      threads.once([&] {
        for (uint64_t i = 0; i < here; ++i)
          if (shares[i] >= 0.0f)
            learnFrom(learned, levels, shares[i]);
      });
    }
    threads.forEachIndex(0, levels, [&](uint64_t level) {
      storeTo(desc.body + desc.sections.table + level * sizeof(float), learned[level]);
    });
  }

private:
  /// Returns an element's place in its bucket's range, as a share; negative if the bucket is not finite.
  CGX_AGENT static float shareAt(const EncodeDescriptor &desc, uint64_t index) {
    const BucketScale range =
        loadScale(desc.body + desc.sections.scales, desc.codec, uint32_t(index) / desc.codec.bucket);
    return isFiniteScale(range) ? shareOfRange(range, Input::load(desc, index)) : -1.0f;
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_ENCODE_H
