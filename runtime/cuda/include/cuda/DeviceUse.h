//===-- DeviceUse.h - Collectives of buffers in the memory of a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is exact the transport's link of GPUs does by itself, if it has one (LibraryCollective.h). What can
// stay on the GPU does (ResidentCollective.h). Every other collective is staged: its buffers pass through
// pinned memory, and it runs as those of the host do. All but sums of a link give the bits of the host.
//
// Whether buffers lie on a GPU, all ranks of a group must answer alike.
#ifndef CGX_RUNTIME_CUDA_DEVICEUSE_H
#define CGX_RUNTIME_CUDA_DEVICEUSE_H

#include "cgx/kernels/cuda_peers.h"
#include "collective/DeviceExecutor.h"
#include "collective/ExplicitForm.h"
#include "cuda/state/LentTensors.h"
#include "cuda/stream/DeviceStatus.h"

#include <map>
#include <mutex>

namespace cgx {

class DeviceExplicitForm;
class ResidentCollective;

/// The GPU of one rank, as its collectives use it.
class DeviceUse final : public DeviceExecutor {
public:
  /// Of the GPU that is the calling thread's. Whoever waits for the stream waits for ranks of the transport,
  /// and no longer than `timeout` without a sign of them.
  DeviceUse(cuda::Stream stream, Transport &transport, std::chrono::milliseconds timeout);
  ~DeviceUse() override;

  /// The host program's.
  cuda::Stream hostStream() const { return stream; }

  /// Whether an operand lies in the memory of a GPU.
  static bool isNeededFor(Buffers operands);

  /// The next run of this collective is behind what is on the stream now, and beside what is put there later.
  Status start(uint32_t collective);

  bool isNeededFor(const Execution &execution, Buffers operands) const override;
  Status run(Execution &execution, Buffers operands) override;
  Status runExplicit(Execution &execution, const ExplicitStep &step) override;
  Status leave(uint32_t collective) override;

  /// Brings to the host what codecs remember of all collectives that ran here.
  Status fetchState();

  /// Waits for the stream, and says what went wrong in what graphs have repeated.
  Status check(const Program &program);

private:
  /// The stream for a run of the collective: a side stream if it was started.
  Result<cuda::Stream> streamFor(uint32_t collective);
  Status runOn(cuda::Stream stream, Execution &execution, Buffers operands);
  Result<ResidentCollective *> residentFor(const Execution &execution, bool isCaptured, cuda::Stream on);
  Status reach();
  Status runStaged(cuda::Stream stream, Execution &execution, Buffers operands);

  Transport &transport;
  std::chrono::milliseconds timeout;
  cuda::Stream stream, side = nullptr; ///< the host program's, and one for what runs beside it
  std::mutex starting;                 ///< who starts is another thread than who runs
  /// By collective: the point of the stream behind which it was started, and whether it has yet to run.
  struct Start {
    cuda::Event event;
    bool isPending = false;
  };
  std::map<uint32_t, Start> starts;
  int gpu = 0;         ///< that all threads of the rank use
  bool failed = false; ///< the stream may wait for ranks that are gone
  /// What was made for a collective as it last ran.
  struct Resident {
    uint64_t epoch = 0; ///< of the codecs that it was made for
    std::unique_ptr<ResidentCollective> collective;
    bool isInGraph = false; ///< a graph has captured it: its memory stays
  };
  /// By id, and by the first run of a step in which the same pairs of a permutation take part.
  std::map<std::pair<uint32_t, uint64_t>, Resident> residents;
  /// Knows no collective that has a resident: what codecs remember is in one place.
  std::unique_ptr<DeviceExplicitForm> explicitForm;
  std::vector<cuda::Memory> staging; ///< of the operands that are staged
  LentTensors lent;                  ///< to those
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICEUSE_H
