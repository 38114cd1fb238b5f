//===-- collective/OperandCodec.cpp - Elements to payloads and back -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/OperandCodec.h"

#include "cgx/kernels/codecs.h"

#include <algorithm>
#include <cstring>

namespace cgx {

OperandCodec::OperandCodec(const Execution &execution, size_t operand, uint32_t phase)
    : execution(execution), operand(execution.collective.operands[operand]),
      codec(this->operand.codecOf(phase)), state(execution.states[operand]), room(execution.scratch) {}

static RandomKey keyOf(const Execution &execution, const OperandInfo &operand, const cgx_codec &codec,
                       const OperandState &state, uint32_t phase) {
  bool isShared = cgx_codec_shares_randomness(&codec);
  return makeRandomKey(execution.seed, execution.step, operand.layerId, isShared ? 0 : execution.encoder,
                       2 * state.runs + (isShared ? 0 : phase));
}

void OperandCodec::encode(uint32_t phase, const std::byte *input, uint64_t first, uint64_t elements,
                          std::byte *payload) const {
  if (elements == 0)
    return;
  if (isRaw()) {
    std::memcpy(payload, input, payloadBytes(elements));
    return;
  }
  if (Residual *residual = residualOf(phase))
    return encodeWithFeedback(phase, input, first, elements, *residual, payload);
  const OptimizerTensors optimizer = optimizerTensors();
  cgx::encode(codec, operand.type, input, elements, keyOf(execution, operand, codec, state, phase), first,
              payload, defaultImplementation(), &optimizer, levels());
}

/// Returns the optimizer's tensors for the operand's elements. Steps count from 0, updates from 1.
OptimizerTensors OperandCodec::optimizerTensors() const {
  OptimizerTensors optimizer{state.kept, execution.step + 1};
  for (KeptTensor &tensor : std::span(optimizer.kept).first(CGX_KEPT_TENSORS))
    if (tensor.elements)
      tensor.elements =
          static_cast<const std::byte *>(tensor.elements) + operand.first * cgx_element_bytes(tensor.type);
  return optimizer;
}

Residual *OperandCodec::residualOf(uint32_t phase) const {
  std::optional<Residual> &residual = phase == kContribution ? state.contribution : state.result;
  return residual ? &*residual : nullptr;
}

// Algorithm 2.1 of the thesis, lines 3 to 5, with p the sum, c what the payload says:
//   p = input + residual;  payload = Q(p);  residual = decay * (p - c)
void OperandCodec::encodeWithFeedback(uint32_t phase, const std::byte *input, uint64_t first,
                                      uint64_t elements, Residual &residual, std::byte *payload) const {
  auto *memory = reinterpret_cast<float *>(room.atLeast(3 * elements * sizeof(float)));
  std::span<float> lost(memory, elements), sum(memory + elements, elements),
      sent(memory + 2 * elements, elements);
  residual.load(first, lost);
  std::copy(lost.begin(), lost.end(), sum.begin());
  const cgx_codec exact{};
  (void)decodeAccumulate(exact, operand.type, input, elements * elementBytes(), elements, sum.data());
  const OptimizerTensors optimizer = optimizerTensors();
  encodeFromF32(codec, operand.type, sum.data(), elements, keyOf(execution, operand, codec, state, phase),
                first, payload, defaultImplementation(), &optimizer, levels());
  std::fill(sent.begin(), sent.end(), 0.0f);
  // This rank has just encoded the payload, so it decodes without an error.
  uint64_t bytes = written(payload, elements).size();
  (void)decodeAccumulate(codec, operand.type, payload, bytes, elements, sent.data());
  for (uint64_t i = 0; i < elements; ++i)
    lost[i] = lossOf(sum[i], sent[i], operand.errorFeedback->decay, [&] { return lost[i]; });
  residual.store(first, lost);
}

void OperandCodec::encodeWide(uint32_t phase, std::span<const float> values, std::byte *payload) const {
  if (!values.empty())
    encodeFromF32(codec, operand.type, values.data(), values.size(),
                  keyOf(execution, operand, codec, state, phase), /*firstElement=*/0, payload,
                  defaultImplementation(), /*optimizer=*/nullptr, levels());
}

Status OperandCodec::accumulate(std::span<const std::byte> payload, uint32_t sender,
                                std::span<float> values) const {
  if (values.empty())
    return Status();
  DecodeError error =
      decodeAccumulate(codec, operand.type, payload.data(), payload.size(), values.size(), values.data());
  return error == DecodeError::ok ? Status() : refused(sender, decodeErrorText(error));
}

/// The payload in memory that has room for any one.
std::span<const std::byte> OperandCodec::written(const std::byte *payload, uint64_t elements) const {
  uint64_t most = payloadBytes(elements);
  if (most == 0 || cgx_payload_is_fixed(&codec))
    return {payload, most};
  return {payload, std::min(most, statedPayloadBytes(payload))};
}

Status OperandCodec::refused(uint32_t sender, const char *why) const {
  return Status::error(CGX_BAD_PAYLOAD, "layer '", operand.layer, "', payload of rank ", sender, ": ", why);
}

Status OperandCodec::decode(std::span<const std::byte> payload, uint32_t sender, uint64_t elements,
                            std::byte *output) const {
  if (elements == 0)
    return Status();
  if (isRaw()) {
    std::memcpy(output, payload.data(), payload.size());
    return Status();
  }
  payload = written(payload.data(), elements);
  DecodeError error = cgx::decode(codec, operand.type, payload.data(), payload.size(), elements, output);
  return error == DecodeError::ok ? Status() : refused(sender, decodeErrorText(error));
}

// Bits of an int8 residual depend on what is stored with them, in blocks of 128.
bool OperandCodec::hasFreePieces() const {
  return !operand.errorFeedback || operand.errorFeedback->storage != ResidualStorage::Int8 ||
         cgx_chunk_alignment(&codec) % residualBlock == 0;
}

void OperandCodec::encodeChunk(uint32_t phase, const std::byte *input, uint64_t first, uint64_t elements,
                               std::byte *payload) const {
  forEachPiece(elements, [&](const Piece &piece) {
    encode(phase, input + piece.first * elementBytes(), first + piece.first, piece.elements,
           payload + piece.begin);
  });
}

Status OperandCodec::decodeChunk(std::span<const std::byte> payload, uint32_t sender, uint64_t elements,
                                 std::byte *output) const {
  for (uint64_t done = 0, count = 0; done < elements; done += count) {
    count = std::min(pieceElements(elements), elements - done);
    uint64_t bytes = payloadBytes(count);
    if (Status status = decode(payload.first(bytes), sender, count, output + done * elementBytes());
        !status.ok())
      return status;
    payload = payload.subspan(bytes);
  }
  return Status();
}

} // namespace cgx
