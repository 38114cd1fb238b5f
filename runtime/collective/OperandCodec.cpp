//===-- collective/OperandCodec.cpp - Elements to payloads and back -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/OperandCodec.h"

#include "cgx/kernels/codecs.h"
#include "cgx/kernels/reduce.h"
#include "collective/WideReduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cgx {

OperandCodec::OperandCodec(const Execution &execution, size_t operand)
    : execution(execution), operand(execution.collective.operands[operand]),
      state(execution.states[operand]) {}

static RandomKey keyOf(const Execution &execution, const OperandInfo &operand, const OperandState &state,
                       uint32_t phase) {
  bool isShared = cgx_codec_shares_randomness(&operand.codec);
  return makeRandomKey(execution.seed, execution.step, operand.layerId,
                       isShared ? 0 : execution.transport.rank(), 2 * state.runs + (isShared ? 0 : phase));
}

void OperandCodec::encode(uint32_t phase, const std::byte *input, uint64_t first, uint64_t elements,
                          std::byte *payload) const {
  if (elements == 0)
    return;
  if (isExact()) {
    std::memcpy(payload, input, payloadBytes(elements));
    return;
  }
  if (Residual *residual = residualOf(phase))
    return encodeWithFeedback(phase, input, first, elements, *residual, payload);
  cgx::encode(operand.codec, operand.type, input, elements, keyOf(execution, operand, state, phase), first,
              payload);
}

Residual *OperandCodec::residualOf(uint32_t phase) const {
  std::optional<Residual> &residual = phase == kContribution ? state.contribution : state.result;
  return residual ? &*residual : nullptr;
}

// Algorithm 2.1 of the thesis, lines 3 to 5, with p the sum, c what the payload says:
//   p = input + residual;  payload = Q(p);  residual = decay * (p - c)
void OperandCodec::encodeWithFeedback(uint32_t phase, const std::byte *input, uint64_t first,
                                      uint64_t elements, Residual &residual, std::byte *payload) const {
  auto take = [&] {
    auto *memory = reinterpret_cast<float *>(execution.scratch.take(elements * sizeof(float)));
    return std::span(memory, elements);
  };
  std::span<float> lost = take(), sum = take(), sent = take();
  residual.load(first, lost);
  std::copy(lost.begin(), lost.end(), sum.begin());
  const cgx_codec exact{};
  (void)decodeAccumulate(exact, operand.type, input, elements * elementBytes(), elements, sum.data());
  encodeFromF32(operand.codec, operand.type, sum.data(), elements, keyOf(execution, operand, state, phase),
                first, payload);
  std::fill(sent.begin(), sent.end(), 0.0f);
  // What this rank has just encoded is a payload.
  (void)decodeAccumulate(operand.codec, operand.type, payload, payloadBytes(elements), elements, sent.data());
  // Where a gradient overflowed the step is void, and what was lost before is not made up for.
  for (uint64_t i = 0; i < elements; ++i)
    if (float now = sum[i] - sent[i]; std::isfinite(now))
      lost[i] = operand.errorFeedback->decay * now;
  residual.store(first, lost);
}

Status OperandCodec::refused(uint32_t sender, const char *why) const {
  return Status::error(CGX_BAD_PAYLOAD, "layer '", operand.layer, "', payload of rank ", sender, ": ", why);
}

Status OperandCodec::decode(std::span<const std::byte> payload, uint32_t sender, uint64_t elements,
                            std::byte *output) const {
  if (elements == 0)
    return Status();
  if (isExact()) {
    std::memcpy(output, payload.data(), payload.size());
    return Status();
  }
  DecodeError error =
      cgx::decode(operand.codec, operand.type, payload.data(), payload.size(), elements, output);
  return error == DecodeError::ok ? Status() : refused(sender, decodeErrorText(error));
}

Status OperandCodec::reduce(std::span<const std::byte *const> payloads, uint64_t elements,
                            std::byte *output) const {
  if (elements == 0)
    return Status();
  if (!isExact())
    return reduceLossy(payloads, elements, output);
  reduceExact(payloads, elements, output);
  return Status();
}

Status OperandCodec::reduceLossy(std::span<const std::byte *const> payloads, uint64_t elements,
                                 std::byte *output) const {
  bool inPlace = operand.type == CGX_F32;
  auto *sum = reinterpret_cast<float *>(inPlace ? output : execution.scratch.take(elements * sizeof(float)));
  std::memset(sum, 0, elements * sizeof(float));
  for (size_t position = 0; position < payloads.size(); ++position) {
    DecodeError error = decodeAccumulate(operand.codec, operand.type, payloads[position],
                                         payloadBytes(elements), elements, sum);
    if (error != DecodeError::ok)
      return refused(execution.group.ranks[position], decodeErrorText(error));
  }
  if (execution.collective.reduction == ReduceKind::Mean)
    divide(CGX_F32, reinterpret_cast<std::byte *>(sum), elements, payloads.size());
  if (!inPlace)
    narrow(operand.type, sum, elements, output);
  return Status();
}

void OperandCodec::reduceExact(std::span<const std::byte *const> payloads, uint64_t elements,
                               std::byte *output) const {
  ReduceKind kind = execution.collective.reduction;
  if (operand.type == CGX_F16 || operand.type == CGX_BF16) {
    auto *wide = reinterpret_cast<float *>(execution.scratch.take(elements * sizeof(float)));
    reduceWide(kind, operand.type, payloads, elements, wide);
    narrow(operand.type, wide, elements, output);
    return;
  }
  std::memcpy(output, payloads[0], elements * elementBytes());
  for (const std::byte *payload : payloads.subspan(1))
    cgx::reduce(kernelReduction(kind), operand.type, output, payload, elements);
  if (kind == ReduceKind::Mean)
    divide(operand.type, output, elements, payloads.size());
}

} // namespace cgx
