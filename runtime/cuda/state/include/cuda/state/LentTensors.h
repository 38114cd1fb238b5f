//===-- LentTensors.h - What a step lends, where it is read -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codecs read what a step lends of its optimizer on the side where they encode. What lies on the other side
// is copied, in each run: the next step lends other values.
#ifndef CGX_RUNTIME_CUDA_STATE_LENTTENSORS_H
#define CGX_RUNTIME_CUDA_STATE_LENTTENSORS_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"

namespace cgx {

class LentTensors {
public:
  /// Whether a step has lent something in the memory of a GPU.
  static bool areOnDevice(const Execution &execution);

  /// Has what the codecs of a collective read lie in memory of the GPU, or of the host, once the stream is
  /// here. Says whether some of it lies elsewhere than in the last run.
  Result<bool> bring(const Execution &execution, bool toDevice, cuda::Stream stream);

  /// What was brought for an operand. Updates are not counted.
  const OptimizerTensors &of(size_t operand) const { return brought[operand]; }

private:
  Status copy(const Execution &execution, KeptTensor &tensor, uint64_t elements, bool toDevice,
              cuda::Memory &memory, cuda::Stream stream);

  std::vector<OptimizerTensors> brought;
  std::vector<std::array<cuda::Memory, CGX_KEPT_COUNT>> copies;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_LENTTENSORS_H
