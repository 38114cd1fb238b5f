//===-- ResidentCollective.h - A collective that stays on the GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels, memory and routes of one collective. They are made when it first runs, kernels again when its
// buffers change, so that a steady program allocates nothing. Some are made of others: the factors of
// matrices, for one, travel in two all-reduces.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_RESIDENTCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_RESIDENTCOLLECTIVE_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"

namespace cgx {

class ResidentCollective {
public:
  virtual ~ResidentCollective() = default;

  /// Whether putting it is nothing but work on the stream, which a CUDA graph can repeat.
  virtual bool isCapturable() const = 0;

  /// Puts the collective on the stream, waiting only for what the hosts of ranks must do in between.
  virtual Status put(Execution &execution, Buffers operands, cuda::Stream stream) = 0;

  /// Once the stream has done it, with all of the group: what the ranks have still to tell each other.
  virtual Status finish(Execution &execution) = 0;

  /// Then: whether a payload was refused.
  virtual Status check(const CollectiveInfo &collective, cuda::Stream stream) = 0;

  /// Brings to the host what codecs remember, so that it can be saved, or another way can be taken.
  virtual Status fetchState(cuda::Stream stream) = 0;
};

/// Whether a collective of buffers on a GPU can stay there. The same on all ranks.
bool canBeResident(const Execution &execution);

/// Makes what canBeResident(): all of the group call.
Result<std::unique_ptr<ResidentCollective>> makeResident(const Execution &execution, cuda::Stream stream);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_RESIDENTCOLLECTIVE_H
