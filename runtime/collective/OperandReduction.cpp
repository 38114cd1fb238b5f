//===-- collective/OperandReduction.cpp - Payloads, added up ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/codecs.h"
#include "cgx/kernels/reduce.h"
#include "collective/OperandCodec.h"
#include "collective/WideReduction.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cgx {

/// Elements that are reduced at a time: a few of them are in the first-level cache.
static constexpr uint64_t kBlockElements = 2048;

Status OperandCodec::reduce(std::span<const std::byte *const> payloads, uint64_t elements,
                            std::byte *output) const {
  std::vector<PeerPayload> all;
  for (size_t position = 0; position < payloads.size(); ++position)
    all.push_back({payloads[position], execution.group.ranks[position]});
  bool isMean = execution.collective.reduction == ReduceKind::Mean;
  return addUp(/*own=*/nullptr, all, elements, isMean ? payloads.size() : 1, output);
}

Status OperandCodec::reduceChunk(std::span<const std::byte *const> payloads, uint64_t elements,
                                 std::byte *output) const {
  std::vector<const std::byte *> piece(payloads.begin(), payloads.end());
  for (uint64_t done = 0, count = 0; done < elements; done += count) {
    count = std::min(pieceElements(elements), elements - done);
    if (Status status = reduce(piece, count, output + done * elementBytes()); !status.ok())
      return status;
    for (const std::byte *&payload : piece)
      payload += payloadBytes(count);
  }
  return Status();
}

Status OperandCodec::accumulateChunk(const std::byte *own, std::span<const PeerPayload> payloads,
                                     uint64_t elements, uint64_t divisor, std::byte *output) const {
  std::vector<PeerPayload> piece(payloads.begin(), payloads.end());
  for (uint64_t done = 0, count = 0; done < elements; done += count) {
    count = std::min(pieceElements(elements), elements - done);
    uint64_t begin = done * elementBytes();
    if (Status status = addUp(own + begin, piece, count, divisor, output + begin); !status.ok())
      return status;
    for (PeerPayload &payload : piece)
      payload.bytes += payloadBytes(count);
  }
  return Status();
}

Status OperandCodec::addUp(const std::byte *own, std::span<const PeerPayload> payloads, uint64_t elements,
                           uint64_t divisor, std::byte *output) const {
  if (elements == 0)
    return Status();
  if (!cgx_codec_is_exact(&codec))
    return addUpLossy(own, payloads, elements, divisor, output);
  std::vector<const std::byte *> addends;
  if (own)
    addends.push_back(own);
  std::byte *memory = isRaw() ? nullptr : room.atLeast(payloads.size() * elements * elementBytes());
  for (const PeerPayload &peer : payloads) {
    if (isRaw()) {
      addends.push_back(peer.bytes);
      continue;
    }
    if (Status status = decode({peer.bytes, payloadBytes(elements)}, peer.sender, elements, memory);
        !status.ok())
      return status;
    addends.push_back(memory);
    memory += elements * elementBytes();
  }
  addUpExact(addends, elements, divisor, output);
  return Status();
}

Status OperandCodec::addUpLossy(const std::byte *own, std::span<const PeerPayload> payloads,
                                uint64_t elements, uint64_t divisor, std::byte *output) const {
  bool inPlace = operand.type == CGX_F32;
  auto *sum = reinterpret_cast<float *>(inPlace ? output : room.atLeast(elements * sizeof(float)));
  if (!own || !inPlace)
    std::memset(sum, 0, elements * sizeof(float));
  if (own && !inPlace)
    (void)decodeAccumulate(cgx_codec{}, operand.type, own, elements * elementBytes(), elements, sum);
  else if (own && own != output)
    std::memcpy(output, own, elements * sizeof(float));
  for (const PeerPayload &peer : payloads) {
    std::span<const std::byte> payload = written(peer.bytes, elements);
    DecodeError error = decodeAccumulate(codec, operand.type, payload.data(), payload.size(), elements, sum);
    if (error != DecodeError::ok)
      return refused(peer.sender, decodeErrorText(error));
  }
  if (divisor > 1)
    divide(CGX_F32, reinterpret_cast<std::byte *>(sum), elements, divisor);
  if (!inPlace)
    narrow(operand.type, sum, elements, output);
  return Status();
}

void OperandCodec::addUpExact(std::span<const std::byte *const> addends, uint64_t elements, uint64_t divisor,
                              std::byte *output) const {
  // Block by block, so that the sum stays in the first-level cache.
  std::vector<const std::byte *> block(addends.begin(), addends.end());
  for (uint64_t begin = 0; begin < elements; begin += kBlockElements) {
    uint64_t count = std::min(kBlockElements, elements - begin);
    addUpBlock(block, count, divisor, output + begin * elementBytes());
    for (const std::byte *&addend : block)
      addend += count * elementBytes();
  }
}

void OperandCodec::addUpBlock(std::span<const std::byte *const> addends, uint64_t elements, uint64_t divisor,
                              std::byte *output) const {
  ReduceKind kind = execution.collective.reduction;
  if (operand.type == CGX_F16 || operand.type == CGX_BF16) {
    std::array<float, kBlockElements> wide;
    reduceWide(kind, operand.type, addends, elements, wide.data());
    if (divisor > 1)
      divide(CGX_F32, reinterpret_cast<std::byte *>(wide.data()), elements, divisor);
    narrow(operand.type, wide.data(), elements, output);
    return;
  }
  if (addends[0] != output)
    std::memcpy(output, addends[0], elements * elementBytes());
  for (const std::byte *addend : addends.subspan(1))
    cgx::reduce(kernelReduceOp(kind), operand.type, output, addend, elements);
  if (divisor > 1)
    divide(operand.type, output, elements, divisor);
}

} // namespace cgx
