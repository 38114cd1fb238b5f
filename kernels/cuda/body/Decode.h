//===-- Decode.h - Decoding dense families, and adding -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_DECODE_H
#define CGX_KERNELS_CUDA_BODY_DECODE_H

#include "Envelope.h"
#include "SmallFamilies.h"
#include "cgx/arithmetic/magnitude.h"

#include <type_traits>

namespace cgx::cuda {

enum class Sink {
  store, ///< elements of the payload's type
  add,   ///< accumulators in f32
};

struct DecodeTable {
  const DecodeItem *items;
  const PayloadItem *payloads;
  uint32_t *errors;

  template <typename Crew>
  CGX_BODY bool isSound(const Crew &crew, const DecodeItem &item, Slice slice) const {
    return areSound(crew, payloads, item.payload, 1, slice, errors);
  }

  // Where checking takes steps of its own, those behind them look up what was found.
  // Threads that find something say the same at the same time.
  CGX_BODY void say(const DecodeItem &item, DecodeError error) const {
    storeRelaxed(errors + (item.payload - payloads), uint32_t(error));
  }
  CGX_BODY bool wasSound(const DecodeItem &item) const {
    return loadRelaxed(errors + (item.payload - payloads)) == uint32_t(DecodeError::ok);
  }
};

CGX_BODY void addTo(void *accumulator, uint64_t index, float value) {
  float *sum = static_cast<float *>(accumulator) + index;
  *sum += value;
}

/// One thread for each element.
template <typename Family, Sink sink> struct DecodeValues {
  static constexpr uint32_t sharedBytes = 0;
  DecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    if (!table.isSound(crew, item, slice))
      return;
    const float limit = largestValue(sink == Sink::add ? CGX_F32 : item.type);
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      if constexpr (sink == Sink::store && std::is_same_v<Family, Identity>)
        return Identity::copyElement(item.type, item.output, item.body, i);
      const float value =
          Family::value(item.codec, item.type, item.body, item.sections, item.elements, i, limit);
      if constexpr (sink == Sink::add)
        addTo(item.output, i, value);
      else
        storeElement(item.type, item.output, i, value);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_DECODE_H
