//===-- OperandLayers.h - Operands as layers of kernels ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_LAYERS_OPERANDLAYERS_H
#define CGX_RUNTIME_CUDA_LAYERS_OPERANDLAYERS_H

#include "cuda/state/OperandResiduals.h"

namespace cgx {

/// Returns how this rank encodes `elements` elements of an operand from `first` on, in a phase, with error
/// feedback if it has some. The caller adds optimizer tensors.
cuda::EncodedLayer encodedLayer(const Execution &execution, const OperandInfo &operand,
                                const OperandResiduals &residuals, uint32_t phase, uint64_t first,
                                uint64_t elements, std::byte *payload);

/// Returns how contributions to `elements` elements of an operand are added up. The caller adds the
/// contributions, and what they are added to.
cuda::ReduceLayer reduceLayer(const Execution &execution, const OperandInfo &operand, uint64_t elements,
                              uint32_t divisor, std::byte *output);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_OPERANDLAYERS_H
