//===-- Layers.cpp - Rows of the tables from layers -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"

#include "cgx/arithmetic/bit_plane.h"

#include "cgx/arithmetic/cast_sections.h"
#include "cgx/arithmetic/quantize_sections.h"
#include "cgx/arithmetic/sign_scale.h"
#include "cgx/kernels/codecs.h"
#include "cgx/kernels/lowrank.h"

namespace cgx::cuda {

static bool hasEnvelope(const cgx_codec &codec) { return codec.family != CGX_CODEC_IDENTITY; }

static uint32_t bodyBegin(const cgx_codec &codec) {
  return hasEnvelope(codec) ? uint32_t(cgx_payload_body_begin(&codec)) : 0;
}

Sections sectionsOf(const cgx_codec &codec, uint64_t elements) {
  switch (codec.family) {
  case CGX_CODEC_QUANTIZE:
    return {.scales = tableBytes(codec), .codes = levelsOffset(codec, elements)};
  case CGX_CODEC_TERNARY: {
    const uint64_t kept = cgx_bucket_count(&codec, elements) * cgx_scale_bytes(&codec);
    return {.codes = kept, .negative = kept + planeBytes(elements)};
  }
  case CGX_CODEC_SIGN:
    return {.negative = signScaleBytes(codec, elements)};
  case CGX_CODEC_NATURAL:
    return {.negative = elements};
  case CGX_CODEC_CAST:
    return {.codes = codec.bucket ? castCodesOffset(codec, elements) : 0};
  default:
    return {};
  }
}

std::string checkCodec(const cgx_codec &codec, cgx_element_type type) {
  std::string wrong = cgx::checkCodec(codec, type);
  if (wrong.empty() && !cgx_codec_has_gpu_kernels(&codec))
    return "expected a codec that has kernels for GPUs";
  return wrong;
}

static Outcome wrongLayer(size_t number, const std::string &what) {
  return {"layer " + std::to_string(number) + ": " + what};
}

Outcome checkAligned(const void *pointer, uint64_t alignment, const char *what, size_t number) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (address == 0)
    return wrongLayer(number, std::string("expected a pointer to its ") + what + ", got null");
  if (address % alignment != 0)
    return wrongLayer(number, std::string("expected its ") + what + " aligned to " +
                                  std::to_string(alignment) + " bytes, got an address " +
                                  std::to_string(address % alignment) + " behind");
  return {};
}

static Outcome checkElements(const cgx_codec &codec, cgx_element_type type, uint64_t elements,
                             size_t number) {
  if (std::string wrong = checkCodec(codec, type); !wrong.empty())
    return wrongLayer(number, wrong);
  if (elements >= CGX_PAYLOAD_MAX_ELEMENTS)
    return wrongLayer(number, "expected fewer than 4294967295 elements, got " + std::to_string(elements));
  return {};
}

static Outcome checkFeedback(const Feedback &feedback, size_t number) {
  const uint64_t alignment = feedback.storage == ResidualStorage::F32    ? 4
                             : feedback.storage == ResidualStorage::Bf16 ? 2
                                                                         : 1;
  if (!feedback.residual)
    return {};
  if (Outcome outcome = checkAligned(feedback.residual, alignment, "residual", number); !outcome.ok())
    return outcome;
  return feedback.storage == ResidualStorage::Int8
             ? checkAligned(feedback.scales, 4, "residual's scales", number)
             : Outcome();
}

/// Checks that the bound state is either none or all that the codec needs.
static Outcome checkOptimizer(const cgx_codec &codec, const OptimizerTensors &optimizer, size_t number) {
  constexpr const char *names[] = {"parameter", "first moment", "second moment", "learning rate"};
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT && optimizer.kept[CGX_KEPT_PARAMETER].elements; ++kept) {
    const KeptTensor &tensor = optimizer.kept[kept];
    if (!cgx_codec_needs(&codec, kept))
      continue;
    if (Outcome outcome = checkAligned(tensor.elements, cgx_element_bytes(tensor.type), names[kept], number);
        !outcome.ok())
      return outcome;
  }
  return {};
}

Outcome checkLayer(const EncodedLayer &layer, size_t number) {
  if (Outcome outcome = checkElements(layer.codec, layer.type, layer.elements, number); !outcome.ok())
    return outcome;
  if (layer.elements == 0)
    return {};
  if (Outcome outcome = checkAligned(layer.payload, 8, "payload", number); !outcome.ok())
    return outcome;
  if (layer.feedback.residual && layer.codec.family == CGX_CODEC_IDENTITY)
    return wrongLayer(number, "expected no residual with the codec identity, which loses nothing");
  if (Outcome outcome = checkOptimizer(layer.codec, layer.optimizer, number); !outcome.ok())
    return outcome;
  return checkFeedback(layer.feedback, number);
}

Outcome checkLayer(const DecodeLayer &layer, size_t number, bool accumulates) {
  if (Outcome outcome = checkElements(layer.codec, layer.type, layer.elements, number); !outcome.ok())
    return outcome;
  if (accumulates && layer.type != CGX_F32 && layer.type != CGX_F16 && layer.type != CGX_BF16)
    return wrongLayer(number, "expected element type f32, f16 or bf16 to accumulate");
  if (layer.elements == 0)
    return {};
  if (Outcome outcome = checkAligned(layer.payload, 8, "payload", number); !outcome.ok())
    return outcome;
  return checkAligned(layer.output, accumulates ? 4 : cgx_element_bytes(layer.type), "output", number);
}

Outcome checkLayer(const ReduceLayer &layer, size_t number) {
  if (Outcome outcome = checkElements(layer.codec, layer.type, layer.elements, number); !outcome.ok())
    return outcome;
  if (layer.type != CGX_F32 && layer.type != CGX_F16 && layer.type != CGX_BF16)
    return wrongLayer(number, "expected element type f32, f16 or bf16 to reduce");
  if (layer.reduction != ReduceOp::sum && layer.codec.family != CGX_CODEC_IDENTITY)
    return wrongLayer(number, "expected the codec identity for a reduction that is no sum");
  if (layer.elements == 0)
    return {};
  for (const void *payload : layer.contributions)
    if (Outcome outcome = checkAligned(payload, 8, "contribution", number); !outcome.ok())
      return outcome;
  const uint64_t size = cgx_element_bytes(layer.type);
  if (layer.own)
    if (Outcome outcome = checkAligned(layer.own, size, "own elements", number); !outcome.ok())
      return outcome;
  return checkAligned(layer.output, size, "output", number);
}

Outcome checkLayer(const LowrankLayer &layer, size_t number) {
  if (std::string wrong = cgx::checkCodec(layer.codec, layer.type); !wrong.empty())
    return wrongLayer(number, wrong);
  const uint64_t rows = layer.codec.rows;
  if (rows == 0 || layer.elements == 0 || layer.elements % rows != 0)
    return wrongLayer(number, "expected a matrix of " + std::to_string(rows) + " rows, got " +
                                  std::to_string(layer.elements) + " elements");
  const std::pair<const void *, const char *> factors[] = {{layer.warmStart, "warm start"},
                                                           {layer.left, "left factor"},
                                                           {layer.ownRight, "own right factor"},
                                                           {layer.right, "right factor"}};
  for (const auto &[factor, name] : factors)
    if (Outcome outcome = checkAligned(factor, 4, name, number); !outcome.ok())
      return outcome;
  const uint64_t size = cgx_element_bytes(layer.type);
  if (Outcome outcome = checkAligned(layer.input, size, "input", number); !outcome.ok())
    return outcome;
  if (Outcome outcome = checkAligned(layer.output, size, "output", number); !outcome.ok())
    return outcome;
  return checkFeedback(layer.feedback, number);
}

KeptResidual residualOf(const Feedback &feedback) {
  return {feedback.storage, feedback.decay, feedback.residual, feedback.scales};
}

PayloadDescriptor payloadDescriptor(const cgx_codec &codec, cgx_element_type type, const void *payload,
                                    uint64_t bytes, uint64_t elements) {
  PayloadDescriptor desc = {};
  desc.payload = static_cast<const uint8_t *>(payload);
  desc.hasEnvelope = hasEnvelope(codec);
  if (desc.hasEnvelope)
    writePayloadHeader(codec, type, elements, &desc.header);
  desc.bytes = bytes;
  desc.mostBytes = cgx_payload_bytes(&codec, type, elements);
  desc.bodyBegin = bodyBegin(codec);
  desc.isFixed = cgx_payload_is_fixed(&codec) != 0;
  return desc;
}

EncodeDescriptor encodeDescriptor(const EncodedLayer &layer, Source source) {
  EncodeDescriptor desc = {};
  desc.codec = layer.codec;
  desc.type = layer.type;
  desc.source = source;
  desc.elements = layer.elements;
  desc.firstElement = layer.firstElement;
  desc.layerId = layer.layerId;
  desc.rank = layer.rank;
  desc.phase = layer.phase;
  desc.payload = static_cast<uint8_t *>(layer.payload);
  desc.body = desc.payload + bodyBegin(layer.codec);
  desc.sections = sectionsOf(layer.codec, layer.elements);
  desc.hasEnvelope = hasEnvelope(layer.codec);
  if (desc.hasEnvelope && layer.elements != 0)
    writePayloadHeader(layer.codec, layer.type, layer.elements, &desc.header);
  desc.residual = residualOf(layer.feedback);
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
    if (cgx_codec_needs(&layer.codec, kept))
      desc.optimizer.kept[kept] = layer.optimizer.kept[kept];
  desc.divisor = desc.reciprocal = 1.0f;
  return desc;
}

DecodeDescriptor decodeDescriptor(const DecodeLayer &layer) {
  DecodeDescriptor desc = {};
  desc.codec = layer.codec;
  desc.type = layer.type;
  desc.body = static_cast<const uint8_t *>(layer.payload) + bodyBegin(layer.codec);
  desc.elements = layer.elements;
  desc.sections = sectionsOf(layer.codec, layer.elements);
  desc.output = layer.output;
  return desc;
}

} // namespace cgx::cuda
