//===-- DeviceAllReduce.cpp - All-reduces that are encoded on a GPU -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceAllReduce.h"

#include "collective/AllReduce.h"
#include "collective/WideReduction.h"

#include <algorithm>
#include <cstring>

namespace cgx {

/// Whether all pieces of a chunk but the first begin where kernels can write: behind whole words.
static bool arePiecesAligned(const cgx_codec &codec, cgx_element_type type) {
  const uint64_t piece = cgx_piece_elements(&codec);
  return piece == 0 || cgx_payload_bytes(&codec, type, piece) % 8 == 0;
}

/// Of a group that has something to exchange: sums and means with any codec, other reductions exactly.
static bool canReduce(const Execution &execution) {
  const CollectiveInfo &collective = execution.collective;
  const bool isSum = collective.reduction == ReduceKind::Sum || collective.reduction == ReduceKind::Mean;
  if (collective.kind != CollectiveKind::AllReduce || execution.group.size() == 1)
    return false;
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    if (!hasKernels(operand) || (!isSum && !operand.isRaw()) ||
        !arePiecesAligned(operand.codec, operand.type) ||
        !arePiecesAligned(operand.codecOf(kResult), operand.type))
      return false;
    if (operand.errorFeedback && !DeviceResidual::fit(AllReduceOperand(execution, i), execution.states[i]))
      return false;
  }
  return true;
}

/// Payloads of all operands, of all their chunks.
template <typename BytesOf> static PayloadLayout layoutOf(const Execution &execution, BytesOf bytesOf) {
  PayloadSizes sizes(execution.group.size());
  for (size_t i = 0; i < execution.collective.operands.size(); ++i) {
    const AllReduceOperand operand(execution, i);
    for (uint32_t chunk = 0; chunk < execution.group.size(); ++chunk)
      sizes[chunk].push_back(bytesOf(operand, chunk));
  }
  return PayloadLayout(sizes);
}

static PayloadLayout contributionLayout(const Execution &execution) {
  return layoutOf(execution, [](const AllReduceOperand &operand, uint32_t chunk) {
    return operand.chunks.payload(chunk);
  });
}

static PayloadLayout resultLayout(const Execution &execution) {
  return layoutOf(execution, [](const AllReduceOperand &operand, uint32_t chunk) {
    return operand.resultChunks.payload(chunk);
  });
}

namespace {

/// Elements of a chunk that are one payload: from the operand's first, and bytes from the chunk's payload.
struct Piece {
  uint64_t first, elements, bytes, payloadBytes;
};

/// The layers of one operand, step by step.
class ChunkLister {
public:
  ChunkLister(const ListedOperand &listed, RoutedLayers &layers)
      : listed(listed), operand(listed.execution, listed.index), self(listed.execution.self()),
        layers(layers) {}

  /// Whether sums are encoded where they are added up.
  bool isFused() const {
    const OperandInfo &info = listed.info();
    const ReduceKind reduction = listed.execution.collective.reduction;
    return (reduction == ReduceKind::Sum || reduction == ReduceKind::Mean) &&
           (!info.back || std::memcmp(&info.codec, &*info.back, sizeof(cgx_codec)) == 0);
  }

  void contributions() const {
    for (uint32_t chunk = 0; chunk < operand.chunks.count; ++chunk)
      forEachPiece(operand.codec, chunk, [&](const Piece &piece) {
        layers.contributions.push_back(
            {listed.encoded(kContribution, piece.first, piece.elements,
                            listed.route.contribution(listed.index, chunk) + piece.bytes),
             listed.buffers.input + piece.first * operand.codec.elementBytes()});
      });
  }

  void owned() const {
    forEachPiece(operand.codec, self, [&](const Piece &piece) {
      cuda::OwnerLayer &layer = layers.owned.layers.emplace_back();
      layer.encoded = listed.encoded(kResult, piece.first, piece.elements,
                                     listed.route.ownResult(listed.index) + piece.bytes);
      layer.divisor = divisor();
      readContributions(piece, layer.contributions, layers.owned.senders);
    });
  }

  void reduced() const {
    forEachPiece(operand.codec, self, [&](const Piece &piece) {
      cuda::ReduceLayer &layer = layers.reduced.layers.emplace_back();
      layer.codec = listed.info().codec;
      layer.type = listed.info().type;
      layer.elements = piece.elements;
      layer.divisor = divisor();
      layer.reduction = kernelReduction(listed.execution.collective.reduction);
      layer.output = outputOf(piece);
      readContributions(piece, layer.contributions, layers.reduced.senders);
    });
  }

  void results() const {
    forEachPiece(operand.resultCodec, self, [&](const Piece &piece) {
      layers.results.push_back({listed.encoded(kResult, piece.first, piece.elements,
                                               listed.route.ownResult(listed.index) + piece.bytes),
                                outputOf(piece)});
    });
  }

  void gathered() const {
    const OperandInfo &info = listed.info();
    for (uint32_t chunk = 0; chunk < operand.chunks.count; ++chunk)
      forEachPiece(operand.resultCodec, chunk, [&](const Piece &piece) {
        layers.gathered.layers.push_back({info.codecOf(kResult), info.type,
                                          listed.route.result(listed.index, chunk) + piece.bytes,
                                          piece.payloadBytes, piece.elements, outputOf(piece)});
        layers.gathered.senders.push_back({listed.index, listed.rankAt(chunk)});
      });
  }

private:
  template <typename Visit> void forEachPiece(const OperandCodec &codec, uint64_t chunk, Visit visit) const {
    const uint64_t begin = operand.chunks.begin(chunk), elements = operand.chunks.size(chunk);
    for (uint64_t done = 0, bytes = 0, count = 0; done < elements; done += count) {
      count = std::min(codec.pieceElements(elements), elements - done);
      visit(Piece{begin + done, count, bytes, codec.payloadBytes(count)});
      bytes += codec.payloadBytes(count);
    }
  }

  std::byte *outputOf(const Piece &piece) const {
    return listed.buffers.output + piece.first * operand.codec.elementBytes();
  }

  uint32_t divisor() const {
    return listed.execution.collective.reduction == ReduceKind::Mean ? listed.execution.group.size() : 1;
  }

  void readContributions(const Piece &piece, std::vector<const void *> &contributions,
                         std::vector<PayloadSender> &senders) const {
    for (uint32_t position = 0; position < listed.execution.group.size(); ++position) {
      contributions.push_back(listed.route.received(listed.index, position) + piece.bytes);
      senders.push_back({listed.index, listed.rankAt(position)});
    }
  }

  const ListedOperand &listed;
  AllReduceOperand operand;
  uint32_t self;
  RoutedLayers &layers;
};

} // namespace

bool DeviceAllReduce::takes(const Execution &execution) const {
  return execution.collective.schedule.algorithm <= CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER &&
         canReduce(execution);
}

PhaseLayouts DeviceAllReduce::layouts(const Execution &execution) const {
  return {contributionLayout(execution), resultLayout(execution)};
}

void DeviceAllReduce::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.contributions();
  if (lister.isFused()) {
    lister.owned();
  } else {
    lister.reduced();
    lister.results();
  }
  lister.gathered();
}

bool DeviceScatterReduce::takes(const Execution &execution) const { return canReduce(execution); }

PhaseLayouts DeviceScatterReduce::layouts(const Execution &execution) const {
  return {contributionLayout(execution), emptyLayout(execution)};
}

void DeviceScatterReduce::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.contributions();
  lister.reduced();
}

bool DeviceChunkGather::takes(const Execution &execution) const { return canReduce(execution); }

PhaseLayouts DeviceChunkGather::layouts(const Execution &execution) const {
  return {emptyLayout(execution), resultLayout(execution)};
}

void DeviceChunkGather::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.results();
  lister.gathered();
}

} // namespace cgx
