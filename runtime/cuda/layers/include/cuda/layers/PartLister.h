//===-- PartLister.h - The layers of an operand cut into parts ---*- C++ -*-===//
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

/// A slice of a tensor: rows of bytes that lie together. Slice k begins behind k of the first slice's rows.
struct SliceRows {
  uint64_t count = 1, width = 0, pitch = 0;
};

/// Lists the layers of one operand that is cut into `parts`, of rows in the operand and in the result.
class PartLister {
public:
  PartLister(const ListedOperand &listed, uint64_t parts, RoutedLayers &layers, SliceRows read = {},
             SliceRows written = {});

  /// A part for each rank.
  void contributions() const;
  /// The tensor, for the one that gets it, or for all.
  void contribution() const;
  void whole() const;
  /// This rank's part, of all that came.
  void reduced() const;
  /// What came from a position, to the `part`-th part of the output.
  void decoded(ReadLayers<cuda::DecodeLayer> &to, const std::byte *payload, uint32_t position,
               uint64_t part) const;
  /// Zeros, where nothing comes.
  void cleared() const;

private:
  const std::byte *inputOf(uint64_t part) const;
  std::byte *outputOf(uint64_t part) const;

  const ListedOperand &listed;
  const OperandInfo &info;
  uint32_t count;
  uint64_t elements, bytes; ///< of a part
  SliceRows read, written;
  RoutedLayers &layers;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_PARTLISTER_H
