//===-- Pairs.h - Two neighbouring elements at once ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_PAIRS_H
#define CGX_KERNELS_CUDA_AGENT_PAIRS_H

#include "Input.h"
#include "Residual.h"

namespace cgx::cuda {

/// Two neighbours, as they are loaded and stored.
template <typename T> struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Two elements of which the first has an even index.
CGX_AGENT void loadPair(Source source, const void *input, uint64_t index, float (&values)[2]) {
  if (source == Source::f16 || source == Source::bf16) {
    const auto both = loadFrom<Pair<uint16_t>>(static_cast<const uint16_t *>(input) + index);
    const bool isHalf = source == Source::f16;
    values[0] = isHalf ? floatFromFloat16(both.first) : floatFromBfloat16(both.first);
    values[1] = isHalf ? floatFromFloat16(both.second) : floatFromBfloat16(both.second);
    return;
  }
  const auto both = loadFrom<Pair<float>>(static_cast<const float *>(input) + index);
  values[0] = both.first;
  values[1] = both.second;
  if (source != Source::f32) {
    values[0] = roundSum(source, values[0]);
    values[1] = roundSum(source, values[1]);
  }
}

CGX_AGENT void storePair(cgx_element_type type, void *output, uint64_t index, float first, float second) {
  if (type == CGX_F32)
    storeTo(static_cast<float *>(output) + index, Pair<float>{first, second});
  else if (type == CGX_F16)
    storeTo(static_cast<uint16_t *>(output) + index,
            Pair<uint16_t>{float16FromFloat(first), float16FromFloat(second)});
  else
    storeTo(static_cast<uint16_t *>(output) + index,
            Pair<uint16_t>{bfloat16FromFloat(first), bfloat16FromFloat(second)});
}

CGX_AGENT void loadResidualPair(const KeptResidual &kept, uint64_t index, float (&values)[2]) {
  if (kept.storage != ResidualStorage::Int8)
    return loadPair(kept.storage == ResidualStorage::F32 ? Source::f32 : Source::bf16, kept.values, index,
                    values);
  const auto both = loadFrom<Pair<int8_t>>(static_cast<const int8_t *>(kept.values) + index);
  const float scale = kept.scales[index / residualBlock];
  values[0] = valueOfInt8(both.first, scale);
  values[1] = valueOfInt8(both.second, scale);
}

CGX_AGENT void storeResidualPair(const KeptResidual &kept, uint64_t index, const float (&values)[2],
                                 float scale) {
  switch (kept.storage) {
  case ResidualStorage::F32:
    return storePair(CGX_F32, kept.values, index, values[0], values[1]);
  case ResidualStorage::Bf16:
    return storeTo(static_cast<uint16_t *>(kept.values) + index,
                   Pair<uint16_t>{keepAsBf16(values[0]), keepAsBf16(values[1])});
  case ResidualStorage::Int8:
    storeTo(static_cast<int8_t *>(kept.values) + index,
            Pair<int8_t>{keepAsInt8(values[0], scale), keepAsInt8(values[1], scale)});
  }
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_PAIRS_H
