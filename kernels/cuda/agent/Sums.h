//===-- Sums.h - Sums before they are encoded, and their losses -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs that are not stored as encoders read them, and are read more than once, are computed first: the sum
// of an owner's contributions, and tensors with error feedback. The encoder then reads f32 from `sums`, and
// the losses are the differences of these and its payload. Tiles (TileEncode.h) need no such memory.
#ifndef CGX_KERNELS_CUDA_AGENT_SUMS_H
#define CGX_KERNELS_CUDA_AGENT_SUMS_H

#include "Decode.h"
#include "Encode.h"
#include "Residual.h"

namespace cgx::cuda {

CGX_AGENT float withResidual(const EncodeDescriptor &desc, uint64_t index, float x) {
  return desc.residual.values ? loadResidual(desc.residual, index) + x : x;
}

/// Computes sums from a tensor, or from contributions whose elements can be decoded one by one.
template <typename Input> struct StoreSums {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t i) { desc.sums[i] = withResidual(desc, i, Input::load(desc, i)); });
  }
};

/// Initializes sums, before contributions are added one after the other.
struct ClearSums {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) { desc.sums[i] = emptySum(desc.codec); });
  }
};

/// Finishes sums after the last contribution was added.
struct FinishSums {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      desc.sums[i] = withResidual(desc, i, roundSum(desc.source, divided(desc, desc.sums[i])));
    });
  }
};

/// The value of an element in the payload of a dense family.
template <typename Family> struct SentBy {
  CGX_AGENT static float load(const EncodeDescriptor &desc, uint64_t index) {
    return 0.0f + Family::value(desc.codec, desc.type, desc.body, desc.sections, desc.elements, index,
                                largestValue(CGX_F32));
  }
};

/// Replaces residuals by the new losses, a warp for each block of them.
template <typename Sent> struct StoreLosses {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t block) {
      storeResidualBlock(lanes, desc.residual, desc.elements, block, [&](uint64_t i) {
        return lossOf(desc.sums[i], Sent::load(desc, i), desc.residual.decay,
                      [&] { return loadResidual(desc.residual, i); });
      });
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_SUMS_H
