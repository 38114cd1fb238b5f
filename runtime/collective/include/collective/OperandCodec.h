//===-- collective/OperandCodec.h - Elements to payloads and back -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_OPERANDCODEC_H
#define CGX_RUNTIME_COLLECTIVE_OPERANDCODEC_H

#include "collective/Collective.h"

#include <algorithm>

namespace cgx {

/// The codec of one operand in one execution, with the random numbers of this encoder.
///
/// Of some codecs a payload is the elements themselves. `isRaw()` lets an algorithm save
/// the copies; all functions below work for them too, and give the same result.
class OperandCodec {
public:
  /// Takes the codec of contributions, which all collectives have, or that of the results of an all-reduce.
  OperandCodec(const Execution &execution, size_t operand, uint32_t phase = kContribution);

  const OperandInfo &info() const { return operand; }
  const cgx_codec &parameters() const { return codec; }
  bool isRaw() const { return codec.family == CGX_CODEC_IDENTITY; }
  uint64_t elementBytes() const { return cgx_element_bytes(operand.type); }
  /// Returns the bytes of a payload; if payloads vary in size, the most that one can have.
  uint64_t payloadBytes(uint64_t elements) const { return cgx_payload_bytes(&codec, operand.type, elements); }
  /// Elements that are one payload of a chunk of `elements` elements (cgx/wire.h): all but the last piece
  /// have as many.
  uint64_t pieceElements(uint64_t elements) const {
    uint64_t piece = cgx_piece_elements(&codec);
    return piece == 0 ? elements : piece;
  }
  /// One of them: from the chunk's first element, and from the first byte of its payload.
  struct Piece {
    uint64_t first, elements, begin, bytes;
  };
  template <typename Visit> void forEachPiece(uint64_t elements, Visit visit) const {
    for (Piece piece = {}; piece.first < elements;
         piece.first += piece.elements, piece.begin += piece.bytes) {
      piece.elements = std::min(pieceElements(elements), elements - piece.first);
      piece.bytes = payloadBytes(piece.elements);
      visit(piece);
    }
  }
  /// Returns whether pieces may be encoded in any order, with the same result.
  bool hasFreePieces() const;

  Chunks chunks() const {
    return {execution.pattern, codec, uint32_t(operand.type), operand.elements, operand.codec};
  }

  /// Encodes `elements` elements, of which the first is element `first` of its tensor. With error feedback,
  /// encodes their sum with what was lost of them before, and remembers what is lost now.
  void encode(uint32_t phase, const std::byte *input, uint64_t first, uint64_t elements,
              std::byte *payload) const;

  /// Encodes elements in f32, rounded once to the operand's type; without error feedback.
  void encodeWide(uint32_t phase, std::span<const float> values, std::byte *payload) const;
  /// Adds what a payload says to `values`, in f32.
  Status accumulate(std::span<const std::byte> payload, uint32_t sender, std::span<float> values) const;

  /// encode() of a chunk, piece after piece. So are the next ones.
  void encodeChunk(uint32_t phase, const std::byte *input, uint64_t first, uint64_t elements,
                   std::byte *payload) const;
  Status decodeChunk(std::span<const std::byte> payload, uint32_t sender, uint64_t elements,
                     std::byte *output) const;
  Status reduceChunk(std::span<const std::byte *const> payloads, uint64_t elements, std::byte *output) const;

  struct PeerPayload {
    const std::byte *bytes;
    uint32_t sender; ///< a rank, for the message
  };
  /// Adds partial results of others, in their order, to the elements that this rank has: computed in f32
  /// as below, divided by `divisor`, and rounded once. Means are no different from sums. `output` may be
  /// `own`.
  Status accumulateChunk(const std::byte *own, std::span<const PeerPayload> payloads, uint64_t elements,
                         uint64_t divisor, std::byte *output) const;

  /// `sender` is the rank whose payload it is, for the message.
  Status decode(std::span<const std::byte> payload, uint32_t sender, uint64_t elements,
                std::byte *output) const;

  /// Reduces the payloads of all positions, in their order, into elements of the
  /// operand's type: computed in f32 for the 16-bit types and for lossy codecs, and
  /// rounded once. Exact codecs give the bits of exact payloads, whichever they are. The payloads have room
  /// for payloadBytes(elements) bytes each; `output` may be none of them.
  Status reduce(std::span<const std::byte *const> payloads, uint64_t elements, std::byte *output) const;

private:
  /// `own`, elements as they are, or null for none, and what the payloads decode to.
  Status addUp(const std::byte *own, std::span<const PeerPayload> payloads, uint64_t elements,
               uint64_t divisor, std::byte *output) const;
  Status addUpLossy(const std::byte *own, std::span<const PeerPayload> payloads, uint64_t elements,
                    uint64_t divisor, std::byte *output) const;
  void addUpExact(std::span<const std::byte *const> addends, uint64_t elements, uint64_t divisor,
                  std::byte *output) const;
  void addUpBlock(std::span<const std::byte *const> addends, uint64_t elements, uint64_t divisor,
                  std::byte *output) const;
  std::span<const std::byte> written(const std::byte *payload, uint64_t elements) const;
  Residual *residualOf(uint32_t phase) const;
  OptimizerTensors optimizerTensors() const;
  /// Returns the levels of a plan; null where each payload is fitted levels of its own.
  const float *levels() const { return operand.levels ? operand.levels->data() : nullptr; }
  void encodeWithFeedback(uint32_t phase, const std::byte *input, uint64_t first, uint64_t elements,
                          Residual &residual, std::byte *payload) const;
  Status refused(uint32_t sender, const char *why) const;

  const Execution &execution;
  const OperandInfo &operand;
  const cgx_codec &codec;
  OperandState &state;
  mutable ScratchRoom room;
};

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_OPERANDCODEC_H
