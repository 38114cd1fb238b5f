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
  static Result<std::unique_ptr<PayloadRoute>> make(const Execution &execution, RunningOperands operands);

  std::byte *contribution(size_t operand, uint32_t chunk) const override {
    return whole.get<std::byte>() + layout.begin(operand, chunk);
  }
  const std::byte *received(size_t operand, uint32_t position) const override {
    return position == self ? contribution(operand, self)
                            : slot(slots, position) + layout.place(operand, self);
  }
  std::byte *ownResult(size_t operand) const override {
    return gathered.get<std::byte>() + layout.begin(operand, self);
  }
  const std::byte *result(size_t operand, uint32_t chunk) const override {
    return gathered.get<std::byte>() + layout.begin(operand, chunk);
  }

  Status scatter(Execution &execution, RunningOperands operands, cuda::Stream stream) override {
    return exchange(execution, operands, kContribution, stream);
  }
  Status gather(Execution &execution, RunningOperands operands, cuda::Stream stream) override {
    return exchange(execution, operands, kResult, stream);
  }
  bool isCapturable() const override { return staged.empty(); }

private:
  MessageRoute(const Execution &execution, RunningOperands operands);

  /// A row that is a message: of which chunk, and where it is. There is no host without staged messages.
  struct Row {
    uint32_t chunk;
    std::byte *device, *host;
  };

  Status allocate();
  std::byte *slot(const cuda::Memory &of, uint32_t position) const {
    return of.get<std::byte>() + position * layout.rowBytes(self);
  }
  Row rowOf(const cuda::Memory &device, uint32_t chunk) const;
  Row outgoing(uint32_t phase, uint32_t position) const;
  Row incoming(uint32_t phase, uint32_t position) const;

  Status exchange(Execution &execution, RunningOperands operands, uint32_t phase, cuda::Stream stream);
  Status exchangeLinked(Execution &execution, RunningOperands operands, uint32_t phase, cuda::Stream stream);
  Status exchangeRowByRow(Execution &execution, std::span<const Traffic> traffic, uint32_t phase,
                          cuda::Stream stream);
  Status bringBack(uint32_t phase, uint32_t position, cuda::Stream stream) const;
  Status exchangeStaged(Execution &execution, RunningOperands operands, uint32_t phase, cuda::Stream stream);

  PayloadLayout layout;
  uint32_t self, count;
  bool hasOneSize;                      ///< each payload
  std::vector<uint32_t> linked, staged; ///< positions of the others, by how they are reached
  cuda::Memory whole, slots, gathered;  ///< on the GPU: contributions, those of the others, results
  std::vector<cuda::Event> isFetched;   ///< a staged row, to the host
  cuda::Memory hostWhole, hostSlots;    ///< pinned, laid out alike; contributions and results share one
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_MESSAGEROUTE_H
