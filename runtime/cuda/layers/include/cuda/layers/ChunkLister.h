//===-- ChunkLister.h - The layers of an all-reduce's chunks ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_LAYERS_CHUNKLISTER_H
#define CGX_RUNTIME_CUDA_LAYERS_CHUNKLISTER_H

#include "collective/AllReduce.h"
#include "cuda/layers/RoutedLayers.h"

namespace cgx {

/// Returns true if all operands of an all-reduce of more than one rank have kernels: sums and means with any
/// codec, other reductions uncompressed. Residuals must be those of chunks, or of operands that have one
/// owner.
bool canReduce(const Execution &execution);

/// Lists the layers of one operand of an all-reduce, step by step, chunk by chunk.
class ChunkLister {
public:
  ChunkLister(const ListedOperand &listed, RoutedLayers &layers)
      : listed(listed), operand(listed.execution, listed.index), self(listed.execution.self()),
        layers(layers) {}

  /// Returns true if sums are encoded where they are added up.
  bool isFused() const;

  /// Lists this rank's tensor, encoded for the owners of all chunks.
  void contributions() const;
  /// Lists one chunk of a tensor, encoded before a round: of the input, or of partial sums in the output.
  void contribution(uint32_t round, uint32_t chunk, const std::byte *tensor) const;
  /// Lists a sum into the output: this rank's input of a chunk, and what the positions have sent of it.
  void joined(ReadLayers<cuda::ReduceLayer> &to, uint32_t chunk, std::span<const uint32_t> positions,
              uint32_t divisor = 1) const;
  /// List this rank's chunk: the contributions of all ranks added up and encoded; only added up; or only
  /// encoded.
  void owned() const;
  void reduced() const;
  void results() const;
  /// Lists the results of all chunks, to be decoded.
  void gathered() const;

private:
  /// The elements of a chunk that form one payload. `first` counts from the operand's first element, `bytes`
  /// from the chunk's payload.
  struct Piece {
    uint64_t first, elements, bytes, payloadBytes;
  };

  template <typename Visit> void forEachPiece(const OperandCodec &codec, uint64_t chunk, Visit visit) const;
  std::byte *outputOf(const Piece &piece) const;
  cuda::ReduceLayer sumOf(const Piece &piece, uint32_t divisor) const;
  void read(const Piece &piece, uint32_t chunk, uint32_t position, std::vector<const void *> &contributions,
            std::vector<PayloadSender> &senders) const;
  void readAll(const Piece &piece, std::vector<const void *> &contributions,
               std::vector<PayloadSender> &senders) const;

  const ListedOperand &listed;
  AllReduceOperand operand;
  uint32_t self;
  RoutedLayers &layers;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_CHUNKLISTER_H
