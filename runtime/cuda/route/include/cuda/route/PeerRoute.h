//===-- PeerRoute.h - Payloads read in the memory of other ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks of one host, as threads or processes, on one GPU or on several that can access each other's memory,
// send nothing: each encodes into memory of its own, and kernels of the others read it there.
//
//   rank 0  [contributions to 0, 1 | result 0]      the owner of chunk 1 reads its row of all ranks,
//   rank 1  [contributions to 0, 1 | result 1]      and all ranks read all results
//
// One event tells that the contributions of a rank to a round are complete, another that its result is. All
// ranks read a result where it was encoded, whichever ranks it would travel over otherwise. Hosts tell the
// readers only that an event was recorded; streams wait for it. No event is needed before memory is written
// again: a rank encodes its next contributions after it has read all results, which were made from the last
// contributions, and its next result after the next contributions of all ranks, its own or partial sums. But
// this run may be the last act of a process, whose memory disappears with it: so at the end processes tell
// each other that they have read.
#ifndef CGX_RUNTIME_CUDA_ROUTE_PEERROUTE_H
#define CGX_RUNTIME_CUDA_ROUTE_PEERROUTE_H

#include "cgx/kernels/cuda_peers.h"
#include "cuda/route/PayloadRoute.h"

#include <optional>

namespace cgx {

class PeerRoute final : public PayloadRoute {
public:
  /// Returns null, on all ranks of the group, if one cannot access the memory of another. All ranks of the
  /// group call.
  static Result<std::unique_ptr<PayloadRoute>> make(const Execution &execution,
                                                    const DeviceSchedule &schedule);
  /// Keeps the memory as long as the process: after a failed run other ranks may still read it.
  ~PeerRoute() override;

  std::byte *contribution(size_t operand, uint32_t chunk) const override {
    return peers[self].memory + schedule.contributions.begin(operand, chunk);
  }
  const std::byte *received(size_t operand, uint32_t position, uint32_t chunk) const override {
    return peers[position].memory + schedule.contributions.begin(operand, chunk);
  }
  std::byte *ownResult(size_t operand) const override { return peers[self].memory + resultAt(operand, self); }
  const std::byte *result(size_t operand, uint32_t chunk) const override {
    return peers[chunk].memory + resultAt(operand, chunk);
  }

  Status scatter(Execution &execution, uint32_t round, cuda::Stream stream) override;
  Status gather(Execution &execution, cuda::Stream stream) override;
  Status finish(Execution &execution) override;
  bool isCapturable() const override { return false; }

private:
  /// The message of a rank to the others of its group.
  struct Hello {
    uint64_t process; ///< equal if addresses are valid for both
    uint64_t address;
    std::array<uint64_t, 2> eventAddresses;
    cuda::IpcHandle memory;
    std::array<cuda::IpcHandle, 2> events;
    int32_t gpu;
    uint32_t canShare;
  };

  /// The memory and events of a rank of the group, indexed by position.
  struct Peer {
    std::byte *memory = nullptr;
    std::array<CUevent_st *, 2> events = {}; ///< indexed by phase
    cuda::ImportedMemory importedMemory;     ///< memory of another process
    std::array<cuda::Event, 2> importedEvents;
  };

  PeerRoute(const Execution &execution, const DeviceSchedule &schedule)
      : schedule(schedule), self(execution.self()), peers(execution.group.size()),
        everybody(stepOfAll(execution)) {}

  uint64_t resultAt(size_t operand, uint32_t chunk) const {
    return schedule.contributions.bytes() + schedule.results.place(operand, chunk);
  }
  cuda::Outcome share(Hello &hello);
  cuda::Outcome see(const Hello &hello, const Hello &own, Peer &peer) const;
  /// Records this rank's event of a phase, and makes the stream wait for the events of the ranks that it
  /// reads.
  Status meet(Execution &execution, uint32_t phase, const Step &step, cuda::Stream stream);

  DeviceSchedule schedule;
  uint32_t self;
  std::vector<Peer> peers;
  Step everybody; ///< the step in which it reads the results of all ranks
  bool isReadByProcesses = false;
  cuda::Memory block;
  std::array<cuda::Event, 2> events;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ROUTE_PEERROUTE_H
