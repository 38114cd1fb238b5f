//===-- PayloadRoute.h - The way of payloads from GPU to GPU ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_ROUTE_PAYLOADROUTE_H
#define CGX_RUNTIME_CUDA_ROUTE_PAYLOADROUTE_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/Collective.h"
#include "cuda/route/DeviceSchedule.h"

#include <memory>

namespace cgx {

/// The memory of one collective's payloads, and the way on which they travel, following a DeviceSchedule.
/// Kernels encode into and decode from the addresses that a route gives, which do not change.
///
/// All rounds of both phases run, one after the other, even if they bring nothing: only then may memory be
/// written again that other ranks read.
class PayloadRoute {
public:
  virtual ~PayloadRoute() = default;

  /// Returns where this rank's contribution to a chunk is encoded.
  virtual std::byte *contribution(size_t operand, uint32_t chunk) const = 0;
  /// Returns where the contribution of a position to a chunk is after scatter(); for this rank's own
  /// position, what it would send.
  virtual const std::byte *received(size_t operand, uint32_t position, uint32_t chunk) const = 0;
  /// Returns where the result of this rank's chunk is encoded.
  virtual std::byte *ownResult(size_t operand) const = 0;
  /// Returns where the result of a chunk is after gather().
  virtual const std::byte *result(size_t operand, uint32_t chunk) const = 0;

  /// Runs a round, after the kernels on the stream that encode what it sends, and before those that read what
  /// it brings.
  virtual Status scatter(Execution &execution, uint32_t round, cuda::Stream stream) = 0;
  /// Runs all rounds of results, after this rank's results are encoded, and before all are decoded.
  virtual Status gather(Execution &execution, cuda::Stream stream) = 0;

  /// Called when the stream has completed a run. Returns when nobody reads what this rank has encoded in it.
  virtual Status finish(Execution & /*execution*/) { return Status(); }

  /// Returns true if scatter() and gather() only put work on the stream, which a CUDA graph can repeat.
  virtual bool isCapturable() const = 0;
};

/// Makes the fastest route that the group has: a link of GPUs, then memory that all can access, then messages
/// of hosts. All ranks of the group call.
Result<std::unique_ptr<PayloadRoute>> makeRoute(const Execution &execution, const DeviceSchedule &schedule);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ROUTE_PAYLOADROUTE_H
