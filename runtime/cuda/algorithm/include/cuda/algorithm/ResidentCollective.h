//===-- ResidentCollective.h - A collective that stays on the GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels, memory and routes of one collective. They are made when it first runs, kernels again when its
// buffers change, so that a program in steady state allocates nothing. Some consist of others: the factors of
// matrices, for example, travel in two all-reduces.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_RESIDENTCOLLECTIVE_H
#define CGX_RUNTIME_CUDA_ALGORITHM_RESIDENTCOLLECTIVE_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"

namespace cgx {

class ResidentCollective {
public:
  virtual ~ResidentCollective() = default;

  /// Returns true if put() only puts work on the stream, which a CUDA graph can repeat.
  virtual bool isCapturable() const = 0;

  /// Puts the collective on the stream. It waits only for what the hosts of ranks must do in between.
  virtual Status put(Execution &execution, Buffers operands, cuda::Stream stream) = 0;

  /// Called by all ranks of the group when the stream has completed the collective. Exchanges what the ranks
  /// must still tell each other.
  virtual Status finish(Execution &execution) = 0;

  /// Called after that. Returns an error if a payload was rejected.
  virtual Status check(const CollectiveInfo &collective, cuda::Stream stream) = 0;

  /// Brings the state of codecs to the host, so that it can be saved, or used by another implementation.
  virtual Status fetchState(cuda::Stream stream) = 0;
};

/// Returns true if a collective of buffers on a GPU can stay there. All ranks return the same.
bool canBeResident(const Execution &execution);

/// Makes the resident form of a collective for which canBeResident(). All ranks of the group call.
Result<std::unique_ptr<ResidentCollective>> makeResident(const Execution &execution, cuda::Stream stream);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_RESIDENTCOLLECTIVE_H
