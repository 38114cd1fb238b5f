//===-- Scan.h - Prefix sums of a list --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_SCAN_H
#define CGX_KERNELS_CUDA_AGENT_SCAN_H

#include "TileRange.h"

namespace cgx::cuda {

/// The number of parts that one thread block adds up side by side.
constexpr uint64_t scanParts = 256;

/// The shared memory of scan().
template <typename T> constexpr uint32_t scanBytes = scanParts * sizeof(T);

/// Replaces each entry by the sum of those before it, and calls found() with the sum of all on one thread.
/// Each thread adds up neighbouring entries, and one thread adds up their sums.
template <typename ThreadBlock, typename T, typename Found>
CGX_AGENT void scan(const ThreadBlock &threads, T *entries, uint64_t count, const Found &found) {
  T *sums = threads.template shared<T>();
  const uint64_t size = (count + scanParts - 1) / scanParts;
  const auto forEachOf = [&](uint64_t part, const auto &visit) {
    for (uint64_t i = part * size; i < (part + 1) * size && i < count; ++i)
      visit(entries[i]);
  };
  threads.forEachIndex(0, scanParts, [&](uint64_t part) {
    T sum = {};
    forEachOf(part, [&](T &entry) { sum = sum + entry; });
    sums[part] = sum;
  });
  threads.once([&] {
    T before = {};
    for (uint64_t part = 0; part < scanParts; ++part) {
      const T sum = sums[part];
      sums[part] = before;
      before = before + sum;
    }
    found(before);
  });
  threads.forEachIndex(0, scanParts, [&](uint64_t part) {
    T before = sums[part];
    forEachOf(part, [&](T &entry) {
      const T own = entry;
      entry = before;
      before = before + own;
    });
  });
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_SCAN_H
