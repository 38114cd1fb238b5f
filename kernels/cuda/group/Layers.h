//===-- Layers.h - Rows of the tables from layers ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_LAYERS_H
#define CGX_KERNELS_CUDA_GROUP_LAYERS_H

#include "Descriptor.h"
#include "cgx/kernels/cuda_lowrank.h"

namespace cgx::cuda {

/// Returns where the sections of a codec begin in the body of `elements` elements.
Sections sectionsOf(const cgx_codec &codec, uint64_t elements);

/// Check a layer's codec, length and pointers, and return ok or what is wrong. `number` is the layer's index.
Outcome checkLayer(const EncodedLayer &layer, size_t number);
Outcome checkLayer(const DecodeLayer &layer, size_t number, bool accumulates);
Outcome checkLayer(const ReduceLayer &layer, size_t number);
Outcome checkLayer(const LowrankLayer &layer, size_t number);
Outcome checkAligned(const void *pointer, uint64_t alignment, const char *what, size_t number);

KeptResidual residualOf(const Feedback &feedback);
PayloadDescriptor payloadDescriptor(const cgx_codec &codec, cgx_element_type type, const void *payload,
                                    uint64_t bytes, uint64_t elements);
EncodeDescriptor encodeDescriptor(const EncodedLayer &layer, Source source);
DecodeDescriptor decodeDescriptor(const DecodeLayer &layer);

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_LAYERS_H
