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

/// How this rank encodes `elements` elements of an operand from `first` on, in a phase, with error feedback
/// if it has some. What an optimizer keeps is for the caller to add.
cuda::EncodedLayer encodedLayer(const Execution &execution, const OperandInfo &operand,
                                const OperandResiduals &residuals, uint32_t phase, uint64_t first,
                                uint64_t elements, std::byte *payload);

/// How contributions to `elements` elements of an operand are added up. They, and what they are added to, are
/// for the caller to add.
cuda::ReduceLayer reduceLayer(const Execution &execution, const OperandInfo &operand, uint64_t elements,
                              uint32_t divisor, std::byte *output);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_OPERANDLAYERS_H
