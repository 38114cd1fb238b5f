//===-- DeviceUse.h - Collectives of buffers in the memory of a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All-reduces whose codecs have kernels for GPUs are encoded, added up and decoded there, and only
// payloads pass through pinned memory of the host, from which any transport sends them. Every other
// collective is staged: its buffers pass through pinned memory, and it runs as those of the host do. Both
// give the bits of the host.
#ifndef CGX_RUNTIME_CUDA_DEVICEUSE_H
#define CGX_RUNTIME_CUDA_DEVICEUSE_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"

#include <map>

namespace cgx {

class DeviceAllReduce;

/// The GPU of one rank, as its collectives use it.
class DeviceUse {
public:
  explicit DeviceUse(cuda::Stream stream);
  ~DeviceUse();

  /// Whether the collective is for run(): an operand lies in the memory of a GPU.
  static bool isNeededFor(Buffers operands);

  /// Runs the collective behind what is on the stream, and returns when its results are there.
  Status run(Execution &execution, Buffers operands);

private:
  Status runStaged(Execution &execution, Buffers operands);

  cuda::Stream stream;
  std::map<uint32_t, std::unique_ptr<DeviceAllReduce>> allReduces; ///< by id, as they last ran
  std::vector<cuda::Memory> staging;                               ///< of the operands that are staged
};

/// A failure of CUDA, as the runtime reports it.
Status statusOf(const cuda::Outcome &outcome);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICEUSE_H
