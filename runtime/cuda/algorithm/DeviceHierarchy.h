//===-- DeviceHierarchy.h - Hierarchical all-reduces on GPUs ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This runs the stages of HostStages.h, each a resident collective with a route of its own: with `nccl+mpi`
// or `nccl+tcp`, NCCL inside hosts and pinned memory between them.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICEHIERARCHY_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICEHIERARCHY_H

#include "collective/HostStages.h"
#include "cuda/algorithm/ResidentCollective.h"

namespace cgx {

class DeviceHierarchy final : public ResidentCollective {
public:
  static bool takes(const Execution &execution);
  static Result<std::unique_ptr<ResidentCollective>> make(const Execution &execution, cuda::Stream stream);

  bool isCapturable() const override;
  Status put(Execution &execution, Buffers operands, cuda::Stream stream) override;
  Status finish(Execution &execution) override;
  Status check(const CollectiveInfo &collective, cuda::Stream stream) override;
  Status fetchState(cuda::Stream stream) override;

private:
  explicit DeviceHierarchy(const HostStages &stages) : stages(stages) {}

  HostStages stages;
  std::unique_ptr<ResidentCollective> reduction, interHost, gathering; ///< interHost is null on a single host
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICEHIERARCHY_H
