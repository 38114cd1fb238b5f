//===-- PartLister.h - The layers of an operand divided into parts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_LAYERS_PARTLISTER_H
#define CGX_RUNTIME_CUDA_LAYERS_PARTLISTER_H

#include "cuda/layers/RoutedLayers.h"

namespace cgx {

/// A slice of a tensor: contiguous rows of bytes. Slice k begins after k rows of the first slice.
struct SliceRows {
  uint64_t count = 1, width = 0, pitch = 0;
};

/// Lists the layers of one operand that is divided into `parts`, made of rows in the operand and in the
/// result.
class PartLister {
public:
  PartLister(const ListedOperand &listed, uint64_t parts, RoutedLayers &layers, SliceRows read = {},
             SliceRows written = {});

  /// Lists a part for each rank, to be encoded.
  void contributions() const;
  /// List the tensor, for the one rank that gets it (contribution) or for all (whole).
  void contribution() const;
  void whole() const;
  /// Lists the sum of all received contributions to this rank's part.
  void reduced() const;
  /// Lists the payload of a position, to be decoded to the `part`-th part of the output.
  void decoded(ReadLayers<cuda::DecodeLayer> &to, const std::byte *payload, uint32_t position,
               uint64_t part) const;
  /// Lists an output that receives nothing, to be set to zero.
  void cleared() const;

private:
  const std::byte *inputOf(uint64_t part) const;
  std::byte *outputOf(uint64_t part) const;

  const ListedOperand &listed;
  const OperandInfo &info;
  uint32_t count;
  uint64_t elements, bytes; ///< of one part
  SliceRows read, written;
  RoutedLayers &layers;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_PARTLISTER_H
