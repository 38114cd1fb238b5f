//===-- optimizer.h - The optimizer state of a tensor ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_OPTIMIZER_H
#define CGX_KERNELS_OPTIMIZER_H

#include "cgx/codec.h"

#include <array>

namespace cgx {

/// A tensor of f32, f16 or bf16. It needs no alignment.
struct KeptTensor {
  const void *elements = nullptr;
  cgx_element_type type = CGX_F32;
};

/// The tensors that the optimizer of a gradient retains, as they are before the update: element by element of
/// the whole gradient, except the learning rate, which is one f32.
struct OptimizerTensors {
  std::array<KeptTensor, CGX_KEPT_COUNT> kept; ///< by cgx_kept; those that the codec needs are there
  uint64_t update = 1;                         ///< the number of the update that the gradient is for, from 1
};

} // namespace cgx

#endif // CGX_KERNELS_OPTIMIZER_H
