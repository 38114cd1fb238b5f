//===-- ChunkLister.cpp - The layers of an all-reduce's chunks ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/layers/ChunkLister.h"

#include "cuda/layers/OperandLayers.h"

#include <cstring>

namespace cgx {

/// Returns true if all pieces of a chunk but the first begin where kernels can write: after whole words.
static bool arePiecesAligned(const cgx_codec &codec, cgx_element_type type) {
  const uint64_t piece = cgx_piece_elements(&codec);
  return piece == 0 || cgx_payload_bytes(&codec, type, piece) % 8 == 0;
}

bool canReduce(const Execution &execution) {
  const CollectiveInfo &collective = execution.collective;
  if (collective.kind != CollectiveKind::AllReduce || execution.group.size() == 1)
    return false;
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    if (!hasKernels(operand) || (!isLinear(collective.reduction) && !operand.isUncompressed()) ||
        !arePiecesAligned(operand.codec, operand.type) ||
        !arePiecesAligned(operand.codecOf(kResult), operand.type))
      return false;
    const AllReduceOperand reduced(execution, i);
    if (operand.errorFeedback &&
        !(execution.pattern.cut == CGX_CUT_ONE ? DeviceResidual::fitWhole(operand)
                                               : DeviceResidual::fit(reduced, execution.states[i])))
      return false;
  }
  return true;
}

bool ChunkLister::isFused() const {
  const OperandInfo &info = listed.info();
  return isLinear(listed.execution.collective.reduction) &&
         (!info.returnCodec || std::memcmp(&info.codec, &*info.returnCodec, sizeof(cgx_codec)) == 0);
}

template <typename Visit>
void ChunkLister::forEachPiece(const OperandCodec &codec, uint64_t chunk, Visit visit) const {
  const uint64_t begin = operand.chunks.begin(chunk);
  codec.forEachPiece(operand.chunks.size(chunk), [&](const OperandCodec::Piece &piece) {
    visit(Piece{begin + piece.first, piece.elements, piece.begin, piece.bytes});
  });
}

std::byte *ChunkLister::outputOf(const Piece &piece) const {
  return listed.buffers.output + piece.first * operand.codec.elementBytes();
}

cuda::ReduceLayer ChunkLister::sumOf(const Piece &piece, uint32_t divisor) const {
  return reduceLayer(listed.execution, listed.info(), piece.elements, divisor, outputOf(piece));
}

void ChunkLister::read(const Piece &piece, uint32_t chunk, uint32_t position,
                       std::vector<const void *> &contributions, std::vector<PayloadSender> &senders) const {
  contributions.push_back(listed.route.received(listed.index, position, chunk) + piece.bytes);
  senders.push_back({listed.index, listed.rankAt(position)});
}

void ChunkLister::readAll(const Piece &piece, std::vector<const void *> &contributions,
                          std::vector<PayloadSender> &senders) const {
  for (uint32_t position = 0; position < listed.execution.group.size(); ++position)
    read(piece, self, position, contributions, senders);
}

void ChunkLister::contributions() const {
  for (uint32_t chunk = 0; chunk < operand.chunks.count(); ++chunk)
    contribution(/*round=*/0, chunk, listed.buffers.input);
}

void ChunkLister::contribution(uint32_t round, uint32_t chunk, const std::byte *tensor) const {
  forEachPiece(operand.codec, chunk, [&](const Piece &piece) {
    layers.rounds[round].contributions.push_back(
        {listed.encoded(kContribution, piece.first, piece.elements,
                        listed.route.contribution(listed.index, chunk) + piece.bytes),
         tensor + piece.first * operand.codec.elementBytes()});
  });
}

void ChunkLister::joined(ReadLayers<cuda::ReduceLayer> &to, uint32_t chunk,
                         std::span<const uint32_t> positions, uint32_t divisor) const {
  forEachPiece(operand.codec, chunk, [&](const Piece &piece) {
    cuda::ReduceLayer &layer = to.layers.emplace_back(sumOf(piece, divisor));
    layer.own = listed.buffers.input + piece.first * operand.codec.elementBytes();
    for (uint32_t position : positions)
      read(piece, chunk, position, layer.contributions, to.senders);
  });
}

void ChunkLister::owned() const {
  forEachPiece(operand.codec, self, [&](const Piece &piece) {
    cuda::OwnerLayer &layer = layers.owned.layers.emplace_back();
    layer.encoded = listed.encoded(kResult, piece.first, piece.elements,
                                   listed.route.ownResult(listed.index) + piece.bytes);
    layer.divisor = listed.execution.divisor();
    readAll(piece, layer.contributions, layers.owned.senders);
  });
}

void ChunkLister::reduced() const {
  forEachPiece(operand.codec, self, [&](const Piece &piece) {
    cuda::ReduceLayer &layer = layers.reduced.layers.emplace_back(sumOf(piece, listed.execution.divisor()));
    readAll(piece, layer.contributions, layers.reduced.senders);
  });
}

void ChunkLister::results() const {
  forEachPiece(operand.resultCodec, self, [&](const Piece &piece) {
    layers.results.push_back({listed.encoded(kResult, piece.first, piece.elements,
                                             listed.route.ownResult(listed.index) + piece.bytes),
                              outputOf(piece)});
  });
}

void ChunkLister::gathered() const {
  const OperandInfo &info = listed.info();
  for (uint32_t chunk = 0; chunk < operand.chunks.count(); ++chunk)
    forEachPiece(operand.resultCodec, chunk, [&](const Piece &piece) {
      layers.gathered.layers.push_back({info.codecOf(kResult), info.type,
                                        listed.route.result(listed.index, chunk) + piece.bytes,
                                        piece.payloadBytes, piece.elements, outputOf(piece)});
      layers.gathered.senders.push_back({listed.index, listed.rankAt(chunk)});
    });
}

} // namespace cgx
