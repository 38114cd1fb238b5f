//===-- DeviceUse.h - Collectives of buffers in the memory of a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uncompressed collectives are executed by the transport's link of GPUs, if it has one (LibraryCollective.h).
// Collectives that can stay on the GPU do (ResidentCollective.h). All others are staged: their buffers pass
// through pinned memory, and they run like those of the host. All but sums of a link give the bits of the
// host.
//
// All ranks of a group must agree on which of their buffers lie on a GPU.
#ifndef CGX_RUNTIME_CUDA_DEVICEUSE_H
#define CGX_RUNTIME_CUDA_DEVICEUSE_H

#include "cgx/kernels/cuda_peers.h"
#include "collective/DeviceExecutor.h"
#include "collective/ExplicitForm.h"
#include "cuda/state/BoundTensors.h"
#include "cuda/stream/DeviceStatus.h"

#include <map>
#include <mutex>

namespace cgx {

class DeviceExplicitForm;
class ResidentCollective;

/// The executor of collectives on the GPU of one rank.
class DeviceUse final : public DeviceExecutor {
public:
  /// Uses the current GPU of the calling thread. Waits for the stream also wait for ranks of the transport,
  /// no longer than `timeout` without a sign of them.
  DeviceUse(cuda::Stream stream, Transport &transport, std::chrono::milliseconds timeout);
  ~DeviceUse() override;

  /// Returns the stream of the host program.
  cuda::Stream hostStream() const { return stream; }

  /// Returns true if an operand lies in the memory of a GPU.
  static bool isNeededFor(Buffers operands);

  /// Orders the next run of this collective after the work that is on the stream now, and concurrent with
  /// later work.
  Status start(uint32_t collective);

  bool isNeededFor(const Execution &execution, Buffers operands) const override;
  Status run(Execution &execution, Buffers operands) override;
  Status runExplicit(Execution &execution, const ExplicitStep &step) override;
  Status leave(uint32_t collective) override;

  /// Brings the state of codecs to the host for all collectives that ran here.
  Status fetchState();

  /// Waits for the stream, and returns the error of graphs that were replayed.
  Status check(const Program &program);

private:
  /// Returns the stream for a run of the collective: a side stream if it was started.
  Result<cuda::Stream> streamFor(uint32_t collective);
  Status runOn(cuda::Stream stream, Execution &execution, Buffers operands);
  Result<ResidentCollective *> residentFor(const Execution &execution, bool isCaptured, cuda::Stream on);
  Status reach();
  Status runStaged(cuda::Stream stream, Execution &execution, Buffers operands);

  Transport &transport;
  std::chrono::milliseconds timeout;
  cuda::Stream stream, side = nullptr; ///< of the host program, and for collectives beside it
  std::mutex starting;                 ///< because collectives are started and run by different threads
  /// The start of each collective: its point of the stream, and whether that run is still pending.
  struct Start {
    cuda::Event event;
    bool isPending = false;
  };
  std::map<uint32_t, Start> starts;
  int gpu = 0;         ///< the GPU that all threads of the rank use
  bool failed = false; ///< the stream may wait for ranks that are gone
  /// The resident form of a collective's last run.
  struct Resident {
    uint64_t epoch = 0; ///< epoch of the codecs for which it was made
    std::unique_ptr<ResidentCollective> collective;
    bool isInGraph = false; ///< a graph has captured it, so its memory must stay
  };
  /// Resident collectives by id, and by the first run of a step in which the same pairs of a permutation take
  /// part.
  std::map<std::pair<uint32_t, uint64_t>, Resident> residents;
  /// The explicit form. It has no collective that is also in `residents`, so that codec state is in one
  /// place.
  std::unique_ptr<DeviceExplicitForm> explicitForm;
  std::vector<cuda::Memory> staging; ///< pinned memory of the staged operands
  BoundTensors bound;                ///< optimizer tensors of the staged operands
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICEUSE_H
