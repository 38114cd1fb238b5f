//===-- DeviceExplicitForm.h - An all-reduce on a GPU, call by call ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What encodes, adds up or decodes is kernels on the buffers of the program, if these lie on the GPU and its
// codec has kernels. Everything else passes through pinned memory and runs on the host: above all the
// exchanges, which do not look into payloads. All give the bits of the host.
#ifndef CGX_RUNTIME_CUDA_ALGORITHM_DEVICEEXPLICITFORM_H
#define CGX_RUNTIME_CUDA_ALGORITHM_DEVICEEXPLICITFORM_H

#include "collective/ExplicitForm.h"
#include "cuda/algorithm/RoutedCollective.h"
#include "cuda/layers/AlignedPayloads.h"
#include "cuda/stream/BoundBuffers.h"
#include "cuda/stream/StepOnDevice.h"

#include <map>

namespace cgx {

/// The explicit form of all collectives of a rank.
class DeviceExplicitForm {
public:
  /// Runs a call behind what is on the stream, and returns when its results are there.
  Status run(Execution &execution, const ExplicitStep &step, cuda::Stream stream);

  /// Brings to the host what codecs remember: of all, or of a collective that goes on in another way.
  Status fetchState(cuda::Stream stream);
  Status leave(uint32_t collective, cuda::Stream stream);

  /// Whether kernels have run for an operand of the collective since it was left.
  bool knows(uint32_t collective) const;

private:
  /// The kernels of a call.
  struct Kernels {
    BoundBuffers buffers;
    AlignedPayloads payloads;
    std::unique_ptr<cuda::Group> group; ///< null where there is nothing to do
    std::vector<PayloadSender> senders; ///< of the payloads that they read, in their order
  };
  /// What was made for an operand.
  struct Resident {
    StepOnDevice step;
    OperandResiduals residuals;
    MirrorLead lead;
    std::map<ExplicitCall, Kernels> kernels;
  };
  /// Collective and operand.
  using Key = std::pair<uint32_t, size_t>;

  Result<Resident *> residentFor(const AllReduceOperand &operand, const Key &key, cuda::Stream stream);
  static Status makeKernels(const AllReduceOperand &operand, const ExplicitStep &step,
                            const OperandResiduals &residuals, Kernels &kernels, cuda::Stream stream);
  Status runKernels(const AllReduceOperand &operand, const ExplicitStep &step, cuda::Stream stream);
  Status runStaged(Execution &execution, const ExplicitStep &step, const ExplicitBytes &bytes,
                   cuda::Stream stream);
  static Status fetch(Resident &resident, cuda::Stream stream);

  std::map<Key, Resident> residents;
  cuda::Memory input, output; ///< pinned
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICEEXPLICITFORM_H
