//===-- Sums.h - What is encoded, computed before it is, and what is lost of it ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is not encoded as it lies in memory, and is asked for more than once, is computed first: the sum of an
// owner's contributions, and what error feedback adds. The encoder then reads f32 in `sums`, and the losses
// are what its payload does not say of them. Octets (OctetEncode.h) need no such memory.
#ifndef CGX_KERNELS_CUDA_BODY_SUMS_H
#define CGX_KERNELS_CUDA_BODY_SUMS_H

#include "Decode.h"
#include "Encode.h"
#include "Residual.h"

namespace cgx::cuda {

CGX_BODY float withResidual(const EncodeItem &item, uint64_t index, float x) {
  return item.residual.values ? loadResidual(item.residual, index) + x : x;
}

/// From a tensor, or from contributions of which each element can be decoded by itself.
template <typename Input> struct StoreSums {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    crew.forEachIndex(slice.begin, slice.end,
                      [&](uint64_t i) { item.sums[i] = withResidual(item, i, Input::load(item, i)); });
  }
};

/// Before contributions are accumulated one after the other.
struct ClearSums {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) { item.sums[i] = emptySum(item.codec); });
  }
};

/// Behind the last one.
struct FinishSums {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      item.sums[i] = withResidual(item, i, roundSum(item.source, item.sums[i] / item.divisor));
    });
  }
};

/// What the payload of a dense family says of an element.
template <typename Family> struct SentBy {
  CGX_BODY static float load(const EncodeItem &item, uint64_t index) {
    return 0.0f + Family::value(item.codec, item.type, item.body, item.sections, item.elements, index,
                                largestValue(CGX_F32));
  }
};

/// Replaces residuals by what was lost, a warp for each block of them.
template <typename Sent> struct StoreLosses {
  static constexpr uint32_t sharedBytes = 0;
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t block) {
      storeResidualBlock(lanes, item.residual, item.elements, block, [&](uint64_t i) {
        return lossOf(item.sums[i], Sent::load(item, i), item.residual.decay,
                      [&] { return loadResidual(item.residual, i); });
      });
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_SUMS_H
