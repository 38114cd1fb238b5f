//===-- collective/OperandAccumulate.cpp - Partial results, added up --*- C++ -*-===//
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

static bool isHalf(cgx_element_type type) { return type == CGX_F16 || type == CGX_BF16; }

Status OperandCodec::accumulateChunk(const std::byte *own, std::span<const PeerPayload> payloads,
                                     uint64_t elements, uint64_t divisor, std::byte *output) const {
  std::vector<PeerPayload> piece(payloads.begin(), payloads.end());
  for (uint64_t done = 0, count = 0; done < elements; done += count) {
    count = std::min(pieceElements(elements), elements - done);
    uint64_t begin = done * elementBytes();
    if (isRaw()) {
      accumulateExact(own + begin, piece, count, divisor, output + begin);
    } else {
      auto accumulate =
          cgx_codec_is_exact(&codec) ? &OperandCodec::accumulateDecoded : &OperandCodec::accumulateLossy;
      if (Status status = (this->*accumulate)(own + begin, piece, count, divisor, output + begin);
          !status.ok())
        return status;
    }
    for (PeerPayload &payload : piece)
      payload.bytes += payloadBytes(count);
  }
  return Status();
}

/// Of exact payloads that are not the elements themselves.
Status OperandCodec::accumulateDecoded(const std::byte *own, std::span<const PeerPayload> payloads,
                                       uint64_t elements, uint64_t divisor, std::byte *output) const {
  uint64_t bytes = elements * elementBytes();
  std::byte *memory = room.atLeast(payloads.size() * bytes);
  std::vector<PeerPayload> decoded;
  for (const PeerPayload &peer : payloads) {
    std::byte *at = memory + decoded.size() * bytes;
    if (Status status = decode({peer.bytes, payloadBytes(elements)}, peer.sender, elements, at); !status.ok())
      return status;
    decoded.push_back({at, peer.sender});
  }
  accumulateExact(own, decoded, elements, divisor, output);
  return Status();
}

Status OperandCodec::accumulateLossy(const std::byte *own, std::span<const PeerPayload> payloads,
                                     uint64_t elements, uint64_t divisor, std::byte *output) const {
  bool inPlace = operand.type == CGX_F32;
  auto *sum = reinterpret_cast<float *>(inPlace ? output : room.atLeast(elements * sizeof(float)));
  if (!inPlace) {
    std::memset(sum, 0, elements * sizeof(float));
    (void)decodeAccumulate(cgx_codec{}, operand.type, own, elements * elementBytes(), elements, sum);
  } else if (own != output) {
    std::memcpy(output, own, elements * sizeof(float));
  }
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

void OperandCodec::accumulateExact(const std::byte *own, std::span<const PeerPayload> payloads,
                                   uint64_t elements, uint64_t divisor, std::byte *output) const {
  ReduceKind kind = execution.collective.reduction;
  if (!isHalf(operand.type)) {
    if (own != output)
      std::memcpy(output, own, elements * elementBytes());
    for (const PeerPayload &peer : payloads)
      cgx::reduce(kernelReduction(kind), operand.type, output, peer.bytes, elements);
    if (divisor > 1)
      divide(operand.type, output, elements, divisor);
    return;
  }
  std::array<float, kBlockElements> wide;
  std::vector<const std::byte *> block(payloads.size() + 1);
  for (uint64_t begin = 0; begin < elements; begin += kBlockElements) {
    uint64_t count = std::min(kBlockElements, elements - begin);
    block[0] = own + begin * elementBytes();
    for (size_t i = 0; i < payloads.size(); ++i)
      block[i + 1] = payloads[i].bytes + begin * elementBytes();
    reduceWide(kind == ReduceKind::Mean ? ReduceKind::Sum : kind, operand.type, block, count, wide.data());
    if (divisor > 1)
      divide(CGX_F32, reinterpret_cast<std::byte *>(wide.data()), count, divisor);
    narrow(operand.type, wide.data(), count, output + begin * elementBytes());
  }
}

} // namespace cgx
