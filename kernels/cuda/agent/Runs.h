//===-- Runs.h - Casts to 16 bits, eight elements at once --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the fast path of casts without a scale: a thread converts a run of eight neighbours, so that loads
// and stores are as wide as a GPU allows. Tensors with another alignment, and elements after the last run, go
// through the general steps.
#ifndef CGX_KERNELS_CUDA_AGENT_RUNS_H
#define CGX_KERNELS_CUDA_AGENT_RUNS_H

#include "Columns.h"
#include "Decode.h"
#include "Encode.h"

namespace cgx::cuda {

constexpr uint32_t runElements = 8;

/// The elements of a run.
struct Run {
  float at[runElements];

  template <typename Step> CGX_AGENT void forEach(const Step &step) {
    unrolled<runElements>([&](uint32_t i) { step(at[i]); });
  }
};

/// A run as 16-bit elements, two in a word.
struct RunWords {
  uint32_t at[runElements / 2];

  /// Loads from memory that is aligned to 8 bytes, as payloads are.
  CGX_AGENT void load(const void *from) {
    unrolled<2>([&](uint32_t part) {
      const auto loaded = loadFrom<Neighbors<uint32_t, 2>>(static_cast<const uint32_t *>(from) + part * 2);
      at[part * 2] = loaded.at[0];
      at[part * 2 + 1] = loaded.at[1];
    });
  }
  CGX_AGENT void store(void *to) const {
    unrolled<2>([&](uint32_t part) {
      storeTo(static_cast<uint32_t *>(to) + part * 2,
              Neighbors<uint32_t, 2>{{at[part * 2], at[part * 2 + 1]}});
    });
  }

  /// Converts each element like loadElement().
  template <bool isBfloat> CGX_AGENT Run floats() const {
    Run run;
    unrolled<runElements>([&](uint32_t i) {
      const auto half = uint16_t(i % 2 ? at[i / 2] >> 16 : at[i / 2]);
      run.at[i] = isBfloat ? floatFromBfloat16(half) : floatFromFloat16(half);
    });
    return run;
  }

  /// Converts each element like storeElement().
  template <bool isBfloat> CGX_AGENT static RunWords of(const Run &run) {
    RunWords words;
    unrolled<runElements / 2>(
        [&](uint32_t i) { words.at[i] = pairOfFloats<isBfloat>(run.at[2 * i], run.at[2 * i + 1]); });
    return words;
  }
};

/// Loads the elements from `index` on, which must be aligned to 16 bytes.
template <cgx_element_type type> CGX_AGENT Run loadRun(const void *input, uint64_t index) {
  Run run;
  if constexpr (type == CGX_F32) {
    unrolled<2>([&](uint32_t part) {
      const auto loaded = loadFrom<Neighbors<float, 4>>(static_cast<const float *>(input) + index + part * 4);
      unrolled<4>([&](uint32_t i) { run.at[part * 4 + i] = loaded.at[i]; });
    });
  } else {
    const auto loaded = loadFrom<Neighbors<uint32_t, 4>>(static_cast<const uint16_t *>(input) + index);
    run = RunWords{{loaded.at[0], loaded.at[1], loaded.at[2], loaded.at[3]}}.floats<type == CGX_BF16>();
  }
  return run;
}

template <cgx_element_type type> CGX_AGENT void storeRun(const Run &run, void *output, uint64_t index) {
  if constexpr (type == CGX_F32) {
    unrolled<2>([&](uint32_t part) {
      Neighbors<float, 4> stored;
      unrolled<4>([&](uint32_t i) { stored.at[i] = run.at[part * 4 + i]; });
      storeTo(static_cast<float *>(output) + index + part * 4, stored);
    });
  } else {
    const RunWords words = RunWords::of<type == CGX_BF16>(run);
    storeTo(static_cast<uint16_t *>(output) + index,
            Neighbors<uint32_t, 4>{{words.at[0], words.at[1], words.at[2], words.at[3]}});
  }
}

/// Encodes runs of a tensor of `type`, or of an owner's sum of such elements.
template <cgx_element_type type, bool isBfloat, bool isSum> struct EncodeRuns {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor desc = table.descs[range.desc]; // a copy, which stays in registers
    if (!table.isSound(threads, desc, range))
      return;
    writeHeader(threads, desc, range);
    threads.forEachIndex(range.begin, range.end, [&](uint64_t number) {
      const uint64_t index = number * runElements;
      Run run = {};
      if constexpr (isSum)
        sum(desc, index, run);
      else
        run = loadRun<type>(desc.input, index);
      RunWords::of<isBfloat>(run).store(desc.body + desc.sections.codes + index * 2);
    });
  }

private:
  CGX_AGENT static void sum(const EncodeDescriptor &desc, uint64_t index, Run &run) {
    for (uint32_t i = 0; i < desc.contributionCount; ++i) {
      const PayloadDescriptor &payload = inGlobalMemory(desc.contributions)[i];
      RunWords words;
      words.load(payload.payload + payload.bodyBegin + desc.sections.codes + index * 2);
      unrolled<runElements>([&](uint32_t k) {
        run.at[k] += numberOfHalf<isBfloat ? CGX_BF16 : CGX_F16>(words.at[k / 2], /*isUpper=*/k % 2 != 0);
      });
    }
    if (desc.reciprocal != 0.0f)
      run.forEach([&](float &x) { x *= desc.reciprocal; });
    else
      run.forEach([&](float &x) { x /= desc.divisor; });
    roundNumbers<type>(run.at);
  }
};

/// Decodes runs to elements of `type`, or adds them to accumulators of f32.
template <cgx_element_type type, bool isBfloat, Sink sink> struct DecodeRuns {
  static constexpr uint32_t sharedBytes = 0;
  DecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor desc = table.descs[range.desc]; // a copy, which stays in registers
    if (!table.isSound(threads, desc, range))
      return;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t number) {
      const uint64_t index = number * runElements;
      Run before = {};
      if constexpr (sink == Sink::add)
        before = loadRun<CGX_F32>(desc.output, index);
      RunWords words;
      words.load(desc.body + desc.sections.codes + index * 2);
      Run run = words.floats<isBfloat>();
      if constexpr (sink == Sink::add)
        unrolled<runElements>([&](uint32_t i) { run.at[i] = before.at[i] + run.at[i]; });
      else if constexpr (type != CGX_F32) // f32 holds every number of 16 bits
        run.forEach([&](float &x) { x = isFinite(x) ? holdWithin(x, largestValue(type)) : x; });
      storeRun<type>(run, desc.output, index);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_RUNS_H
