//===-- DeviceFactors.h - Low-rank all-reduces on a GPU ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FactoredAllReduce.h, with the matrices, their factors, and the state of both in the memory of a GPU.
// Between its kernels (cuda_lowrank.h) run the two all-reduces of the factors, which stay on the GPU
// themselves and add up uncompressed elements in the order of the host, so that results have the host's bits.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICEFACTORS_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICEFACTORS_H

#include "cgx/kernels/cuda_lowrank.h"
#include "collective/FactoredAllReduce.h"
#include "cuda/algorithm/ResidentCollective.h"
#include "cuda/state/DeviceResidual.h"
#include "cuda/stream/BoundBuffers.h"
#include "cuda/stream/StepOnDevice.h"

namespace cgx {

class DeviceFactors final : public ResidentCollective {
public:
  /// Returns true if the all-reduces that replace the collective can stay on a GPU.
  static bool takes(const Execution &execution);
  static Result<std::unique_ptr<ResidentCollective>> make(const Execution &execution, cuda::Stream stream);

  bool isCapturable() const override { return left->isCapturable() && right->isCapturable(); }
  Status put(Execution &execution, Buffers operands, cuda::Stream stream) override;
  Status finish(Execution &execution) override;
  Status check(const CollectiveInfo &collective, cuda::Stream stream) override;
  Status fetchState(cuda::Stream stream) override;

private:
  /// An operand that is a matrix.
  struct Factored {
    size_t operand;
    cuda::Memory left, ownRight, right;
    DeviceCopy warmStart;
    std::optional<DeviceResidual> residual;
  };

  explicit DeviceFactors(const CollectiveInfo &collective) : travelling(collective) {}

  Status makeFactors(const Execution &execution, cuda::Stream stream);
  Status makeKernels(const CollectiveInfo &collective);

  FactorCollectives travelling;
  std::unique_ptr<ResidentCollective> left, right; ///< the two all-reduces
  StepOnDevice step;
  std::vector<Factored> factored;
  UnfetchedChanges unfetched;
  BoundBuffers buffers; ///< buffers that the kernels read and write
  std::unique_ptr<cuda::LowrankGroup> kernels;
  std::vector<OperandBuffers> leftBuffers, rightBuffers; ///< buffers of the two all-reduces
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICEFACTORS_H
