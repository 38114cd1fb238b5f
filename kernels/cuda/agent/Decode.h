//===-- Decode.h - Decoding dense families, and adding -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_DECODE_H
#define CGX_KERNELS_CUDA_AGENT_DECODE_H

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
  const DecodeDescriptor *descs;
  const PayloadDescriptor *payloads;
  uint32_t *errors;

  template <typename ThreadBlock>
  CGX_AGENT bool isSound(const ThreadBlock &threads, const DecodeDescriptor &desc, TileRange range) const {
    return areSound(threads, payloads, desc.payload, 1, range, errors);
  }

  // Where checking takes steps of its own, later steps read the recorded error. Threads that find an error at
  // the same time store equal values.
  CGX_AGENT void say(const DecodeDescriptor &desc, DecodeError error) const {
    storeRelaxed(errors + (desc.payload - payloads), uint32_t(error));
  }
  CGX_AGENT bool wasSound(const DecodeDescriptor &desc) const {
    return loadRelaxed(errors + (desc.payload - payloads)) == uint32_t(DecodeError::ok);
  }
};

CGX_AGENT void addTo(void *accumulator, uint64_t index, float value) {
  float *sum = static_cast<float *>(accumulator) + index;
  *sum += value;
}

/// Decodes elements, a thread for each.
template <typename Family, Sink sink> struct DecodeValues {
  static constexpr uint32_t sharedBytes = 0;
  DecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    if (!table.isSound(threads, desc, range))
      return;
    const float limit = largestValue(sink == Sink::add ? CGX_F32 : desc.type);
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      if constexpr (sink == Sink::store && std::is_same_v<Family, Identity>)
        return Identity::copyElement(desc.type, desc.output, desc.body, i);
      const float value =
          Family::value(desc.codec, desc.type, desc.body, desc.sections, desc.elements, i, limit);
      if constexpr (sink == Sink::add)
        addTo(desc.output, i, value);
      else
        storeElement(desc.type, desc.output, i, value);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_DECODE_H
