//===-- codecs.h - Encode, decode, decode and accumulate --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the functions that the runtime calls. All of them are pure: no state, no allocation, any thread.
// Buffers need no alignment and must not overlap. A payload has fewer than CGX_PAYLOAD_MAX_ELEMENTS elements,
// and exactly cgx_payload_bytes(codec, type, elements) bytes, or at most as many if its codec's payloads are
// not of one size (cgx_payload_is_fixed). An empty tensor has an empty payload.
//
// Determinism: a payload depends on the arguments only, never on the implementation, and levels depend on the
// element's position in its tensor (firstElement + i), so a tensor cut at block boundaries decodes to the
// same values as in one piece.
#ifndef CGX_KERNELS_CODECS_H
#define CGX_KERNELS_CODECS_H

#include "cgx/arithmetic/random.h"
#include "cgx/codec.h"
#include "cgx/kernels/implementation.h"
#include "cgx/kernels/optimizer.h"
#include "cgx/kernels/payload.h"

#include <string>

namespace cgx {

/// Returns "" when the kernels take this codec for this element type, else what is wrong with it. The
/// functions below require a codec that passed, and that has payloads: lowrank has none (lowrank.h).
std::string checkCodec(const cgx_codec &codec, cgx_element_type type);

/// Encodes `elements` elements; the first is element `firstElement` of its tensor. `payload` has room for
/// cgx_payload_bytes(); returns how many of them the payload has. `optimizer` is for codecs that need what it
/// keeps (cgx_codec_needs); without it, these send every bit that they would otherwise weigh. `levels` is for
/// quantize with learned levels: 2^bits shares of a bucket's range, ascending from 0 to 1; without it, they
/// are fitted to the elements.
uint64_t encode(const cgx_codec &codec, cgx_element_type type, const void *input, uint64_t elements,
                RandomKey key, uint64_t firstElement, void *payload,
                const Implementation &with = defaultImplementation(),
                const OptimizerTensors *optimizer = nullptr, const float *levels = nullptr);

/// Encodes a chunk whose sum its owner has in f32: each sum is rounded once to `type`, which must be f32, f16
/// or bf16, and then encoded. An uncompressed reduction gives the same result; a sum beyond the type's range
/// becomes an infinity.
uint64_t encodeFromF32(const cgx_codec &codec, cgx_element_type type, const float *input, uint64_t elements,
                       RandomKey key, uint64_t firstElement, void *payload,
                       const Implementation &with = defaultImplementation(),
                       const OptimizerTensors *optimizer = nullptr, const float *levels = nullptr);

/// Decodes into elements of `type`: the value in f32, rounded once. Any bytes may be given: anything but the
/// expected payload is rejected, and nothing is written then.
DecodeError decode(const cgx_codec &codec, cgx_element_type type, const void *payload, uint64_t payloadBytes,
                   uint64_t elements, void *output, const Implementation &with = defaultImplementation());

/// Adds the decoded values to the accumulator: accumulator[i] += value in f32, a plain addition. `type` (f32,
/// f16, bf16) is that of the payload; the value is not rounded to it first.
DecodeError decodeAccumulate(const cgx_codec &codec, cgx_element_type type, const void *payload,
                             uint64_t payloadBytes, uint64_t elements, float *accumulator,
                             const Implementation &with = defaultImplementation());

} // namespace cgx

#endif // CGX_KERNELS_CODECS_H
