//===-- Codecs.cpp - Encode and decode: envelopes around bodies -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/codecs.h"

#include "CodecFamily.h"
#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/hadamard.h"
#include "cgx/arithmetic/magnitude.h"
#include "cgx/codec_table.h"

#include <cstring>
#include <memory>

namespace cgx {
namespace {

/// Returns whether a header stands before the body and a checksum may follow it.
bool hasEnvelope(const cgx_codec &codec) { return codec.family != CGX_CODEC_IDENTITY; }

/// Returns the elements to encode after a rotation. Each payload has its own seed, which is stored before the
/// body.
std::unique_ptr<float[]> rotatedInput(const EncodeArguments &arguments) {
  auto x = std::make_unique_for_overwrite<float[]>(arguments.elements);
  for (uint64_t i = 0; i < arguments.elements; ++i)
    x[i] = loadElement(arguments.source, arguments.input, i);
  const uint64_t seed = mixBits(arguments.key.value + arguments.firstElement);
  memcpy(arguments.body - CGX_PAYLOAD_SEED_BYTES, &seed, sizeof seed);
  rotate(x.get(), arguments.elements, seed);
  return x;
}

/// Decodes a body of rotated elements, and calls take(index, value) for the elements themselves.
template <typename Take>
DecodeError decodeRotated(const BodyKernels &kernels, DecodeArguments arguments, cgx_element_type type,
                          const Take &take) {
  auto x = std::make_unique_for_overwrite<float[]>(arguments.elements);
  uint64_t seed;
  memcpy(&seed, arguments.body - CGX_PAYLOAD_SEED_BYTES, sizeof seed);
  arguments.type = CGX_F32;
  if (DecodeError error = kernels.decode(arguments, x.get()); error != DecodeError::ok)
    return error;
  rotateBack(x.get(), arguments.elements, seed);
  const float limit = largestValue(type);
  for (uint64_t i = 0; i < arguments.elements; ++i)
    take(i, isFinite(x[i]) ? holdWithin(x[i], limit) : x[i]);
  return DecodeError::ok;
}

uint64_t encodeSource(const cgx_codec &codec, cgx_element_type type, Source source, const void *input,
                      uint64_t elements, RandomKey key, uint64_t firstElement, void *payload,
                      const Implementation &with, const OptimizerTensors *optimizer, const float *levels) {
  if (elements == 0)
    return 0;
  const uint64_t headerBytes = hasEnvelope(codec) ? cgx_payload_body_begin(&codec) : 0;
  if (hasEnvelope(codec))
    writePayloadHeader(codec, type, elements, payload);
  EncodeArguments arguments = {&codec,    type,  source,       input,
                               elements,  key,   firstElement, static_cast<uint8_t *>(payload) + headerBytes,
                               optimizer, levels};
  std::unique_ptr<float[]> rotated;
  if (codec.rotate) {
    rotated = rotatedInput(arguments);
    arguments.type = CGX_F32;
    arguments.source = Source::f32;
    arguments.input = rotated.get();
  }
  const uint64_t bodyBytes = bodyKernels(codec.family, with).encode(arguments);
  return hasEnvelope(codec) ? endPayload(codec, payload, headerBytes + bodyBytes) : bodyBytes;
}

/// Checks everything around the body, and calls decodeBody(kernels, arguments) for the body.
template <typename DecodeBody>
DecodeError decodeWith(const cgx_codec &codec, cgx_element_type type, const void *payload,
                       uint64_t payloadBytes, uint64_t elements, const Implementation &with,
                       DecodeBody decodeBody) {
  const uint64_t expectedBytes = cgx_payload_bytes(&codec, type, elements);
  uint64_t headerBytes = 0, checksumBytes = 0;
  if (elements == 0 || !hasEnvelope(codec)) {
    if (payloadBytes != expectedBytes)
      return payloadBytes < expectedBytes ? DecodeError::truncated : DecodeError::wrongLength;
    if (elements == 0)
      return DecodeError::ok;
  } else {
    const DecodeError error = checkEnvelope(codec, type, payload, payloadBytes, elements);
    if (error != DecodeError::ok)
      return error;
    headerBytes = cgx_payload_body_begin(&codec);
    checksumBytes = codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0;
  }
  return decodeBody(bodyKernels(codec.family, with),
                    DecodeArguments{&codec, type, static_cast<const uint8_t *>(payload) + headerBytes,
                                    payloadBytes - headerBytes - checksumBytes, elements});
}

} // namespace

std::string checkCodec(const cgx_codec &codec, cgx_element_type type) {
  if (cgx_element_bytes(type) == 0)
    return "expected an element type of cgx/codec.h";
  if (codec.family >= CGX_CODEC_FAMILY_COUNT)
    return "expected a codec family of which this build has the kernels";
  const bool isFloat = type == CGX_F32 || type == CGX_F16 || type == CGX_BF16;
  if (!isFloat && !cgx_codec_has(&codec, CGX_TAKES_ANY_TYPE))
    return "expected element type f32, f16 or bf16 for a codec other than identity";
  if (codec.checksum && !(hasEnvelope(codec) && cgx_codec_has_payloads(&codec)))
    return "expected no checksum with " + std::string(codecFamilies()[codec.family].name) +
           (hasEnvelope(codec) ? ", which has no payloads" : ", which has no envelope");
  return checkCodecValues(valuesOf(codec));
}

uint64_t encode(const cgx_codec &codec, cgx_element_type type, const void *input, uint64_t elements,
                RandomKey key, uint64_t firstElement, void *payload, const Implementation &with,
                const OptimizerTensors *optimizer, const float *levels) {
  return encodeSource(codec, type, sourceOf(type), input, elements, key, firstElement, payload, with,
                      optimizer, levels);
}

uint64_t encodeFromF32(const cgx_codec &codec, cgx_element_type type, const float *input, uint64_t elements,
                       RandomKey key, uint64_t firstElement, void *payload, const Implementation &with,
                       const OptimizerTensors *optimizer, const float *levels) {
  return encodeSource(codec, type, sumSourceOf(type), input, elements, key, firstElement, payload, with,
                      optimizer, levels);
}

DecodeError decode(const cgx_codec &codec, cgx_element_type type, const void *payload, uint64_t payloadBytes,
                   uint64_t elements, void *output, const Implementation &with) {
  return decodeWith(codec, type, payload, payloadBytes, elements, with,
                    [&](const BodyKernels &kernels, const DecodeArguments &arguments) {
                      if (codec.rotate)
                        return decodeRotated(kernels, arguments, type, [&](uint64_t i, float value) {
                          storeElement(type, output, i, value);
                        });
                      return kernels.decode(arguments, output);
                    });
}

DecodeError decodeAccumulate(const cgx_codec &codec, cgx_element_type type, const void *payload,
                             uint64_t payloadBytes, uint64_t elements, float *accumulator,
                             const Implementation &with) {
  return decodeWith(codec, type, payload, payloadBytes, elements, with,
                    [&](const BodyKernels &kernels, const DecodeArguments &arguments) {
                      if (codec.rotate)
                        return decodeRotated(kernels, arguments, CGX_F32,
                                             [&](uint64_t i, float value) { accumulator[i] += value; });
                      return kernels.decodeAccumulate(arguments, accumulator);
                    });
}

} // namespace cgx
