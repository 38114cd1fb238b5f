//===-- DeviceExplicitForm.h - The explicit form on a GPU -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls that encode, add up or decode run kernels on the buffers of the program, if these lie on the GPU and
// the codec has kernels. All other calls pass through pinned memory and run on the host, in particular the
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
  /// Runs a call after the work on the stream, and returns when its results are available.
  Status run(Execution &execution, const ExplicitStep &step, cuda::Stream stream);

  /// Bring the state of codecs to the host: of all collectives, or of one that continues in another way.
  Status fetchState(cuda::Stream stream);
  Status leave(uint32_t collective, cuda::Stream stream);

  /// Returns true if kernels have run for an operand of the collective since leave().
  bool knows(uint32_t collective) const;

private:
  /// The kernels of a call.
  struct Kernels {
    BoundBuffers buffers;
    AlignedPayloads payloads;
    std::unique_ptr<cuda::Group> group; ///< null if there is nothing to do
    std::vector<PayloadSender> senders; ///< senders of the payloads that they read, in their order
  };
  /// The kernels and state that were made for an operand.
  struct Resident {
    StepOnDevice step;
    OperandResiduals residuals;
    UnfetchedChanges unfetched;
    std::map<ExplicitCall, Kernels> kernels;
  };
  /// The ids of a collective and its operand.
  using Key = std::pair<uint32_t, size_t>;

  Result<Resident *> residentFor(const AllReduceOperand &operand, const Key &key, cuda::Stream stream);
  static Status makeKernels(const AllReduceOperand &operand, const ExplicitStep &step,
                            const OperandResiduals &residuals, Kernels &kernels, cuda::Stream stream);
  Status runKernels(const AllReduceOperand &operand, const ExplicitStep &step, cuda::Stream stream);
  Status runStaged(Execution &execution, const ExplicitStep &step, const ExplicitBytes &bytes,
                   cuda::Stream stream);
  static Status fetch(Resident &resident, cuda::Stream stream);

  std::map<Key, Resident> residents;
  cuda::Memory input, output; ///< in pinned memory
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ALGORITHM_DEVICEEXPLICITFORM_H
