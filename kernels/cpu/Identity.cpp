//===-- Identity.cpp - Exact payloads: raw elements -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Identity.h"

#include "Elements.h"

namespace cgx {

void roundFromF32(cgx_element_type type, const float *input, uint64_t elements, void *output) {
  switch (type) {
  case CGX_F16:
    for (uint64_t i = 0; i < elements; ++i)
      storeElement(CGX_F16, output, i, input[i]);
    return;
  case CGX_BF16:
    for (uint64_t i = 0; i < elements; ++i)
      storeElement(CGX_BF16, output, i, input[i]);
    return;
  default:
    memcpy(output, input, elements * 4);
  }
}

void accumulateAsF32(cgx_element_type type, const void *input, uint64_t elements, float *accumulator) {
  switch (type) {
  case CGX_F16:
    for (uint64_t i = 0; i < elements; ++i)
      accumulator[i] += loadElement(Source::f16, input, i);
    return;
  case CGX_BF16:
    for (uint64_t i = 0; i < elements; ++i)
      accumulator[i] += loadElement(Source::bf16, input, i);
    return;
  default:
    for (uint64_t i = 0; i < elements; ++i)
      accumulator[i] += loadF32(input, i);
  }
}

} // namespace cgx
