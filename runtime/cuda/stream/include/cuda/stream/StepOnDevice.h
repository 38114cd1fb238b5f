//===-- StepOnDevice.h - The state of random numbers on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_STREAM_STEPONDEVICE_H
#define CGX_RUNTIME_CUDA_STREAM_STEPONDEVICE_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"

namespace cgx {

class StepOnDevice {
public:
  Status make();

  /// Puts the step of this run on the stream; in a graph, work that counts on from the last step.
  Status put(const Execution &execution, cuda::Stream stream) const;

  /// Puts it there for a run outside of any graph.
  Status put(const cuda::StepState &now, cuda::Stream stream) const;

  const cuda::StepState *get() const { return state.get<cuda::StepState>(); }

private:
  cuda::Memory state, onHost; ///< on the GPU, and the host memory from which it is copied
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STREAM_STEPONDEVICE_H
