//===-- AlignedPayloads.h - Payloads at addresses that kernels accept -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels expect payloads at multiples of 8 bytes. In the buffers of a program payloads follow each other and
// have any number of bytes, so those that begin elsewhere are copied on the GPU.
#ifndef CGX_RUNTIME_CUDA_LAYERS_ALIGNEDPAYLOADS_H
#define CGX_RUNTIME_CUDA_LAYERS_ALIGNEDPAYLOADS_H

#include "cgx/kernels/cuda_memory.h"
#include "status/Status.h"

#include <optional>
#include <vector>

namespace cgx {

/// A range of bytes of a buffer.
struct Extent {
  uint64_t begin, bytes;
};

class AlignedPayloads {
public:
  /// Prepares for buffers whose addresses equal this one's modulo 8.
  Status make(const std::byte *buffer, std::vector<Extent> of);

  /// Returns where kernels find a payload of the buffer.
  template <typename Byte> Byte *at(size_t payload, Byte *buffer) const {
    return places[payload] ? memory.get<std::byte>() + *places[payload] : buffer + payloads[payload].begin;
  }

  /// Copy the unaligned payloads from the buffer before kernels run, or to it after them.
  Status copyFrom(const std::byte *buffer, cuda::Stream stream) const;
  Status copyTo(std::byte *buffer, cuda::Stream stream) const;

private:
  struct Copy {
    uint64_t inBuffer, inMemory, bytes;
  };

  std::vector<Extent> payloads;
  std::vector<std::optional<uint64_t>> places; ///< offset in `memory` of each copied payload
  std::vector<Copy> copies;
  cuda::Memory memory;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_ALIGNEDPAYLOADS_H
