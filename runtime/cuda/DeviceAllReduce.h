//===-- DeviceAllReduce.h - An all-reduce that is encoded on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H
#define CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H

#include "cuda/BoundBuffers.h"
#include "cuda/DeviceResidual.h"
#include "cuda/LentTensors.h"
#include "cuda/PayloadRoute.h"
#include "cuda/ResidentCollective.h"
#include "cuda/StepOnDevice.h"

#include <map>

namespace cgx {

class DeviceAllReduce final : public ResidentCollective {
public:
  /// Sums and means of floats, with codecs that have kernels, identity among them.
  static bool takes(const Execution &execution);
  static Result<std::unique_ptr<ResidentCollective>> make(const Execution &execution, cuda::Stream stream);

  bool isCapturable() const override { return route->isCapturable(); }
  Status put(Execution &execution, Buffers operands, cuda::Stream stream) override;
  Status check(const CollectiveInfo &collective, cuda::Stream stream) override;
  Status fetchState(cuda::Stream stream) override;

private:
  /// Whose payload it is that a kernel reads.
  struct Sender {
    size_t operand;
    uint32_t rank;
  };

  /// Of one operand, or nothing.
  struct Residuals {
    DeviceResidual contribution, result;
  };

  DeviceAllReduce() = default;

  Status makeResiduals(const Execution &execution, cuda::Stream stream);
  Status makeKernels(RunningOperands running);
  void listContribution(const AllReduceOperand &operand, size_t index,
                        std::vector<cuda::EncodeLayer> &list) const;
  void listOwner(const AllReduceOperand &operand, size_t index, std::vector<cuda::OwnerLayer> &list);
  void listResult(const AllReduceOperand &operand, size_t index, std::vector<cuda::DecodeLayer> &list);
  Status check(cuda::Group &group, const std::vector<Sender> &senders, const CollectiveInfo &collective,
               cuda::Stream stream);

  std::unique_ptr<PayloadRoute> route;
  StepOnDevice step;
  std::map<size_t, Residuals> residuals; ///< by operand, of those with error feedback
  MirrorLead lead;
  LentTensors lent;
  BoundBuffers buffers; ///< that the kernels below read and write
  std::unique_ptr<cuda::Group> encode, own, decode;
  std::vector<Sender> ownedSenders, resultSenders; ///< of the payloads that `own` and `decode` read
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H
