//===-- BoundBuffers.h - The buffers for which kernels were made -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_STREAM_BOUNDBUFFERS_H
#define CGX_RUNTIME_CUDA_STREAM_BOUNDBUFFERS_H

#include "cgx/kernels/cuda_peers.h"
#include "collective/Collective.h"

#include <algorithm>

namespace cgx {

class BoundBuffers {
public:
  const OperandBuffers &operator[](size_t operand) const { return buffers[operand]; }

  /// Makes the next bind() make kernels, because other memory that they read has moved.
  void forget() { isBound = false; }

  /// Calls make(), for kernels of these buffers, unless they are those of the last run. Kernels that a graph
  /// has captured are kept, since it could not run any others.
  template <typename Make> Status bind(Buffers operands, cuda::Stream stream, Make make) {
    if (isBound && std::equal(operands.begin(), operands.end(), buffers.begin(), buffers.end(),
                              [](const OperandBuffers &a, const OperandBuffers &b) {
                                return a.input == b.input && a.output == b.output;
                              })) {
      isInGraph = isInGraph || cuda::isCapturing(stream);
      return Status();
    }
    if (cuda::isCapturing(stream))
      return Status(CGX_UNSUPPORTED, "expected the buffers of the last run in a graph: run it once before");
    if (isInGraph)
      return Status(CGX_UNSUPPORTED, "expected the buffers that a graph has captured, got others");
    buffers.assign(operands.begin(), operands.end());
    isBound = false;
    Status status = make();
    isBound = status.ok();
    return status;
  }

private:
  std::vector<OperandBuffers> buffers;
  bool isBound = false, isInGraph = false;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STREAM_BOUNDBUFFERS_H
