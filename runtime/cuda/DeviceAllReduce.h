//===-- DeviceAllReduce.h - An all-reduce that is encoded on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H
#define CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H

#include "cuda/DeviceResidual.h"
#include "cuda/PayloadRoute.h"

#include <map>

namespace cgx {

/// One collective: its kernels and memory are made when it first runs, and kernels again when its buffers
/// change, so that a steady program allocates nothing.
class DeviceAllReduce {
public:
  /// Whether the collective can run here: a sum or mean of floats on a GPU, with codecs of which it has
  /// kernels, identity among them. The same on all ranks, where buffers are alike.
  static bool takes(const Execution &execution, Buffers operands);

  /// Makes memory, and the way of payloads between ranks: all of the group call.
  static Result<std::unique_ptr<DeviceAllReduce>> make(const Execution &execution, cuda::Stream stream);

  /// Whether it was made for the operands' codecs, which plans may change on all ranks.
  bool isOf(const Execution &execution) const;

  /// Brings to the host what codecs remember, so that it can be saved, or another way can be taken.
  Status fetchState(cuda::Stream stream);

  /// Puts the collective on the stream, waiting only for what the hosts of ranks must do in between.
  Status put(Execution &execution, Buffers operands, cuda::Stream stream);

  /// Once the stream has done it: whether a payload was refused.
  Status check(const CollectiveInfo &collective, cuda::Stream stream);

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
  Status bind(RunningOperands running, Buffers operands, bool isCaptured);
  void listContribution(const AllReduceOperand &operand, size_t index,
                        std::vector<cuda::EncodeLayer> &list) const;
  void listOwner(const AllReduceOperand &operand, size_t index, std::vector<cuda::OwnerLayer> &list);
  void listResult(const AllReduceOperand &operand, size_t index, std::vector<cuda::DecodeLayer> &list);
  Status putState(const Execution &execution, bool isCaptured, cuda::Stream stream);
  Status check(cuda::Group &group, const std::vector<Sender> &senders, const CollectiveInfo &collective,
               cuda::Stream stream);

  std::vector<cgx_codec> codecs;
  std::unique_ptr<PayloadRoute> route;
  cuda::Memory state, hostState; ///< what random numbers depend on, on the GPU and where it is copied from
  std::map<size_t, Residuals> residuals; ///< by operand, of those with error feedback
  bool isAhead = false;                  ///< of what the host keeps
  bool isReplayed = false;               ///< by graphs, which say nothing to the host
  std::vector<OperandBuffers> buffers;   ///< that the kernels below read and write
  std::unique_ptr<cuda::Group> encode, own, decode;
  std::vector<Sender> ownedSenders, resultSenders; ///< of the payloads that `own` and `decode` read
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H
