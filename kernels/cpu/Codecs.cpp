//===-- Codecs.cpp - Encode and decode: dispatch over codec families ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/codecs.h"

#include "Identity.h"
#include "QuantizeKernels.h"

namespace cgx {
namespace {

bool isCompressible(cgx_element_type type) { return type == CGX_F32 || type == CGX_F16 || type == CGX_BF16; }

void encodeQuantized(const cgx_codec &codec, cgx_element_type type, Source source, const void *input,
                     uint64_t elements, RandomKey key, uint64_t firstElement, void *payload,
                     const Implementation &with) {
  uint8_t *bytes = static_cast<uint8_t *>(payload);
  const PayloadSections sections = payloadSections(codec, type, elements);
  writePayloadHeader(codec, type, elements, payload);
  with.quantize->encode(QuantizeEncodeArguments{&codec, source, input, elements, key, firstElement,
                                                bytes + sections.scales, bytes + sections.levels});
  writePayloadChecksum(codec, type, elements, payload);
}

QuantizeDecodeArguments decodeArguments(const cgx_codec &codec, cgx_element_type type, const void *payload,
                                        uint64_t elements) {
  const uint8_t *bytes = static_cast<const uint8_t *>(payload);
  const PayloadSections sections = payloadSections(codec, type, elements);
  return QuantizeDecodeArguments{&codec, bytes + sections.scales, bytes + sections.levels, elements};
}

} // namespace

const char *checkCodec(const cgx_codec &codec, cgx_element_type type) {
  if (cgx_element_bytes(type) == 0)
    return "expected an element type of cgx/codec.h";
  if (codec.family == CGX_CODEC_IDENTITY)
    return codec.checksum ? "expected no checksum on identity payloads, which have no envelope" : nullptr;
  if (codec.family != CGX_CODEC_QUANTIZE)
    return "expected codec family identity or quantize";
  if (!isCompressible(type))
    return "expected element type f32, f16 or bf16 for a lossy codec";
  if (codec.bits < 1 || codec.bits > 8)
    return "expected 1 to 8 bits";
  if (codec.bucket < 1)
    return "expected a bucket of at least 1 element";
  if (codec.rounding > CGX_ROUND_STOCHASTIC)
    return "expected rounding nearest or stochastic";
  if (codec.scale > CGX_SCALE_F32)
    return "expected scale bf16 or f32";
  if (codec.checksum > 1)
    return "expected checksum 0 or 1";
  return nullptr;
}

void encode(const cgx_codec &codec, cgx_element_type type, const void *input, uint64_t elements,
            RandomKey key, uint64_t firstElement, void *payload, const Implementation &with) {
  if (elements == 0)
    return;
  if (codec.family == CGX_CODEC_IDENTITY) {
    memcpy(payload, input, elements * cgx_element_bytes(type));
    return;
  }
  const Source source = type == CGX_F16 ? Source::f16 : type == CGX_BF16 ? Source::bf16 : Source::f32;
  encodeQuantized(codec, type, source, input, elements, key, firstElement, payload, with);
}

void encodeFromF32(const cgx_codec &codec, cgx_element_type type, const float *input, uint64_t elements,
                   RandomKey key, uint64_t firstElement, void *payload, const Implementation &with) {
  if (elements == 0)
    return;
  if (codec.family == CGX_CODEC_IDENTITY) {
    roundFromF32(type, input, elements, payload);
    return;
  }
  const Source source = type == CGX_F16    ? Source::f32ToF16
                        : type == CGX_BF16 ? Source::f32ToBf16
                                           : Source::f32;
  encodeQuantized(codec, type, source, input, elements, key, firstElement, payload, with);
}

DecodeError decode(const cgx_codec &codec, cgx_element_type type, const void *payload, uint64_t payloadBytes,
                   uint64_t elements, void *output, const Implementation &with) {
  const DecodeError error = checkPayload(codec, type, payload, payloadBytes, elements);
  if (error != DecodeError::ok || elements == 0)
    return error;
  if (codec.family == CGX_CODEC_IDENTITY)
    memcpy(output, payload, payloadBytes);
  else
    with.quantize->decode(decodeArguments(codec, type, payload, elements), type, output);
  return DecodeError::ok;
}

DecodeError decodeAccumulate(const cgx_codec &codec, cgx_element_type type, const void *payload,
                             uint64_t payloadBytes, uint64_t elements, float *accumulator,
                             const Implementation &with) {
  const DecodeError error = checkPayload(codec, type, payload, payloadBytes, elements);
  if (error != DecodeError::ok || elements == 0)
    return error;
  if (codec.family == CGX_CODEC_IDENTITY)
    accumulateAsF32(type, payload, elements, accumulator);
  else
    with.quantize->decodeAccumulate(decodeArguments(codec, type, payload, elements), accumulator);
  return DecodeError::ok;
}

} // namespace cgx
