//===-- BoundTensors.h - Optimizer tensors where codecs read them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codecs read bound optimizer tensors on the side where they encode. Tensors on the other side are copied in
// each run, because the next step has other values.
#ifndef CGX_RUNTIME_CUDA_STATE_BOUNDTENSORS_H
#define CGX_RUNTIME_CUDA_STATE_BOUNDTENSORS_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"

namespace cgx {

class BoundTensors {
public:
  /// Returns true if a step has bound a tensor in the memory of a GPU.
  static bool areOnDevice(const Execution &execution);

  /// Makes the tensors that the codecs of a collective read available in memory of the GPU, or of the host,
  /// once the stream is there. Returns true if an address differs from the last run.
  Result<bool> bring(const Execution &execution, bool toDevice, cuda::Stream stream);

  /// Returns the tensors that were brought for an operand.
  const OptimizerTensors &of(size_t operand) const { return brought[operand]; }

private:
  Status copy(const Execution &execution, KeptTensor &tensor, uint64_t elements, bool toDevice,
              cuda::Memory &memory, cuda::Stream stream);

  std::vector<OptimizerTensors> brought;
  std::vector<std::array<cuda::Memory, CGX_KEPT_COUNT>> copies;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_BOUNDTENSORS_H
