//===-- CudaBackend.h - Kernel agents on a GPU ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_CUDABACKEND_H
#define CGX_KERNELS_CUDA_GROUP_CUDABACKEND_H

#include "CudaError.h"
#include "DeviceBlock.h"

#include <cuda_runtime.h>

namespace cgx::cuda {

/// Returns how many blocks of an agent should fit on a multiprocessor together. The compiler limits registers
/// to that.
template <typename Agent> constexpr uint32_t residentBlocks() {
  if constexpr (requires { Agent::residentBlocks; })
    return Agent::residentBlocks;
  else
    return 1;
}

/// Runs an agent, with one block for each range.
template <typename Agent>
__global__ void __launch_bounds__(blockThreads, residentBlocks<Agent>())
    runRanges(const Agent agent, const TileRange *ranges) {
  agent(DeviceBlock(), ranges[blockIdx.x]);
}

class CudaBackend {
public:
  Outcome allocate(uint64_t bytes, void *&memory) {
    Outcome outcome = outcomeOf(cudaMalloc(&memory, bytes), "allocating a group's tables");
    if (outcome.ok())
      outcome = outcomeOf(cudaMemsetAsync(memory, 0, bytes, making), "clearing a group's tables");
    return outcome.ok() ? waitForMaking() : outcome;
  }
  void release(void *memory) { cudaFree(memory); }

  Outcome upload(void *to, const void *from, uint64_t bytes) {
    Outcome outcome = outcomeOf(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, making),
                                "copying a group's tables");
    return outcome.ok() ? waitForMaking() : outcome;
  }
  Outcome download(void *to, const void *from, uint64_t bytes, Stream stream) {
    if (bytes != 0)
      if (Outcome outcome = outcomeOf(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream),
                                      "copying a group's results");
          !outcome.ok())
        return outcome;
    return outcomeOf(cudaStreamSynchronize(stream), "waiting for a group");
  }

  template <typename Agent>
  Outcome launch(const Agent &agent, const TileRange *ranges, uint32_t count, Stream stream) {
    runRanges<<<count, blockThreads, Agent::sharedBytes, stream>>>(agent, ranges);
    return outcomeOf(cudaGetLastError(), "launching a kernel");
  }

private:
  /// Waits until the tables are written, because streams created as non-blocking wait for no other stream.
  Outcome waitForMaking() { return outcomeOf(cudaStreamSynchronize(making), "making a group's tables"); }

  cudaStream_t making = cudaStreamPerThread;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_CUDABACKEND_H
