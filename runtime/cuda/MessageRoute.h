//===-- MessageRoute.h - Payloads as messages -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row of payloads is a message to one rank: from GPU to GPU where the transport has a link that reaches
// the rank, otherwise through pinned memory of the host, and over whatever the transport is.
#ifndef CGX_RUNTIME_CUDA_MESSAGEROUTE_H
#define CGX_RUNTIME_CUDA_MESSAGEROUTE_H

#include "cgx/kernels/cuda_peers.h"
#include "cuda/PayloadRoute.h"

namespace cgx {

class MessageRoute final : public PayloadRoute {
public:
  static Result<std::unique_ptr<PayloadRoute>> make(const Execution &execution, const PhaseLayouts &layouts);

  std::byte *contribution(size_t operand, uint32_t chunk) const override {
    return whole.get<std::byte>() + layouts.contributions.begin(operand, chunk);
  }
  const std::byte *received(size_t operand, uint32_t position) const override {
    return position == self ? contribution(operand, self)
                            : slot(slots, position) + layouts.contributions.place(operand, self);
  }
  std::byte *ownResult(size_t operand) const override {
    return gathered.get<std::byte>() + layouts.results.begin(operand, self);
  }
  const std::byte *result(size_t operand, uint32_t chunk) const override {
    return gathered.get<std::byte>() + layouts.results.begin(operand, chunk);
  }

  Status scatter(Execution &execution, cuda::Stream stream) override {
    return exchange(execution, kContribution, stream);
  }
  Status gather(Execution &execution, cuda::Stream stream) override {
    return exchange(execution, kResult, stream);
  }
  bool isCapturable() const override { return staged.empty(); }

private:
  MessageRoute(const Execution &execution, const PhaseLayouts &layouts);

  /// A row that is a message: of which chunk, and where it is. There is no host without staged messages.
  struct Row {
    uint32_t chunk;
    std::byte *device, *host;
  };

  Status allocate();
  std::byte *slot(const cuda::Memory &of, uint32_t position) const {
    return of.get<std::byte>() + position * layouts.contributions.rowBytes(self);
  }
  const PayloadLayout &layoutOf(uint32_t phase) const {
    return phase == kContribution ? layouts.contributions : layouts.results;
  }
  Row rowOf(uint32_t phase, uint32_t chunk) const;
  Row outgoing(uint32_t phase, uint32_t position) const;
  Row incoming(uint32_t phase, uint32_t position) const;

  Status exchange(Execution &execution, uint32_t phase, cuda::Stream stream);
  Status exchangeLinked(Execution &execution, uint32_t phase, cuda::Stream stream);
  Status exchangeRowByRow(Execution &execution, std::span<const Traffic> traffic, uint32_t phase,
                          cuda::Stream stream);
  Status bringBack(uint32_t phase, uint32_t position, cuda::Stream stream) const;
  Status exchangeStaged(Execution &execution, uint32_t phase, cuda::Stream stream);

  PhaseLayouts layouts;
  uint32_t self, count;
  std::vector<uint32_t> linked, staged; ///< positions of the others, by how they are reached
  cuda::Memory whole, slots, gathered;  ///< on the GPU: contributions, those of the others, results
  std::vector<cuda::Event> isFetched;   ///< a staged row, to the host
  cuda::Memory hostWhole, hostSlots;    ///< pinned, laid out alike; contributions and results share one
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_MESSAGEROUTE_H
