//===-- collective/Changes.h - Elements and what changed of them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_CHANGES_H
#define CGX_RUNTIME_COLLECTIVE_CHANGES_H

#include "cgx/kernels/codecs.h"
#include "collective/Collective.h"

#include <algorithm>
#include <span>

namespace cgx {

/// Elements as they are, in f32; to what is added to -0, also -0 is exact.
inline void widen(cgx_element_type type, const std::byte *input, std::span<float> values) {
  std::fill(values.begin(), values.end(), -0.0f);
  if (!values.empty())
    (void)decodeAccumulate(cgx_codec{}, type, input, values.size() * cgx_element_bytes(type), values.size(),
                           values.data());
}

/// The other way, rounded once.
inline void narrow(cgx_element_type type, std::span<const float> values, std::byte *output) {
  if (!values.empty())
    encodeFromF32(cgx_codec{}, type, values.data(), values.size(), {}, 0, output);
}

/// A gather with operands of which ranks send how they changed.
Status runGatherOfChanges(Execution &execution, Buffers operands);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_CHANGES_H
