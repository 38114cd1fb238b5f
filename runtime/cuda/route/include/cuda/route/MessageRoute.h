//===-- MessageRoute.h - Payloads as messages -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row of payloads is a message to one rank: from GPU to GPU if the transport has a link that reaches the
// rank; otherwise over the transport itself, which takes memory of GPUs directly or gets a copy in pinned
// memory of the host.
#ifndef CGX_RUNTIME_CUDA_ROUTE_MESSAGEROUTE_H
#define CGX_RUNTIME_CUDA_ROUTE_MESSAGEROUTE_H

#include "cgx/kernels/cuda_peers.h"
#include "cuda/route/PayloadRoute.h"

#include <map>

namespace cgx {

class MessageRoute final : public PayloadRoute {
public:
  static Result<std::unique_ptr<PayloadRoute>> make(const Execution &execution,
                                                    const DeviceSchedule &schedule);

  std::byte *contribution(size_t operand, uint32_t chunk) const override {
    return whole.get<std::byte>() + schedule.contributions.begin(operand, chunk);
  }
  const std::byte *received(size_t operand, uint32_t position, uint32_t chunk) const override {
    return position == self ? contribution(operand, chunk)
                            : slots.get<std::byte>() + slotBegins.at({position, chunk}) +
                                  schedule.contributions.place(operand, chunk);
  }
  std::byte *ownResult(size_t operand) const override {
    return gathered.get<std::byte>() + schedule.results.begin(operand, self);
  }
  const std::byte *result(size_t operand, uint32_t chunk) const override {
    return gathered.get<std::byte>() + schedule.results.begin(operand, chunk);
  }

  Status scatter(Execution &execution, uint32_t round, cuda::Stream stream) override;
  Status gather(Execution &execution, cuda::Stream stream) override;
  bool isCapturable() const override { return isAllLinked; }

private:
  MessageRoute(const Execution &execution, const DeviceSchedule &schedule);

  /// A row that this rank sends or receives in a step.
  struct Row {
    uint32_t position, chunk; ///< `position` is the sender or receiver
    std::byte *device, *host; ///< `host` equals `device` if the transport takes that
    bool isDirect() const { return device == host; }
  };
  struct Rows {
    std::vector<Row> outgoing, incoming;
  };
  /// The rows of a step, by the way on which they travel.
  struct Turn {
    Rows linked, hosted;
  };

  /// The way on which rows get to a position and come from there.
  enum class Way { linked, direct, staged };

  Way wayTo(const Execution &execution, uint32_t phase, uint32_t position) const;
  Status allocate(const Execution &execution);
  Turn turnOf(const Execution &execution, uint32_t phase, const Step &step) const;
  const PayloadLayout &layoutOf(uint32_t phase) const {
    return phase == kContribution ? schedule.contributions : schedule.results;
  }

  Status run(Execution &execution, uint32_t phase, const Turn &turn, cuda::Stream stream);
  Status exchangeLinked(Execution &execution, uint32_t phase, const Rows &rows, cuda::Stream stream) const;
  Status fetch(uint32_t phase, const Rows &rows, cuda::Stream stream);
  Status bringBack(uint32_t phase, const Row &row, cuda::Stream stream);
  Status exchangeHosted(Execution &execution, uint32_t phase, const Rows &rows, cuda::Stream stream);
  Status exchangeRowByRow(Execution &execution, uint32_t phase, const Rows &rows, cuda::Stream stream);

  DeviceSchedule schedule;
  uint32_t self;
  bool isAllLinked = true;
  std::array<bool, 2> areFixed; ///< by phase: sizes of payloads are fixed, so hosts need not read them
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> slotBegins; ///< by position and chunk
  uint64_t slotsBytes = 0;
  std::vector<Turn> scattering, gathering;
  cuda::Memory whole, slots, gathered; ///< on the GPU: own contributions, received ones, results
  cuda::Memory hostWhole, hostSlots;   ///< pinned, same layout; contributions and results share `hostWhole`
  std::vector<cuda::Event> isFetched;  ///< by chunk: it may be sent from the host, or from the GPU directly
  cuda::Event isFree;                  ///< memory of rows received on the GPU directly may be written
  std::vector<bool> isOnHost;          ///< by chunk, in this phase
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ROUTE_MESSAGEROUTE_H
