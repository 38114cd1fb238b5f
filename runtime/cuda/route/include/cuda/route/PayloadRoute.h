//===-- PayloadRoute.h - How payloads get from GPU to GPU -------*- C++ -*-===//
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

/// The memory of one collective's payloads, and what takes them on their way, by a DeviceSchedule. Kernels
/// encode into and decode from the addresses that a route gives, which stay.
///
/// All rounds of both phases run, one after the other, also where there is nothing to bring: only then may
/// memory be written again that others read.
class PayloadRoute {
public:
  virtual ~PayloadRoute() = default;

  /// Where this rank's contribution to a chunk is encoded.
  virtual std::byte *contribution(size_t operand, uint32_t chunk) const = 0;
  /// Where what a position has sent this rank of a chunk is, once scattered; or what it would send itself.
  virtual const std::byte *received(size_t operand, uint32_t position, uint32_t chunk) const = 0;
  /// Where the result of this rank's chunk is encoded.
  virtual std::byte *ownResult(size_t operand) const = 0;
  /// Where the result of a chunk is, once gathered.
  virtual const std::byte *result(size_t operand, uint32_t chunk) const = 0;

  /// A round, behind the encoding on the stream of what leaves in it, ahead of the reading of what comes.
  virtual Status scatter(Execution &execution, uint32_t round, cuda::Stream stream) = 0;
  /// All rounds, behind the encoding of this rank's results, ahead of the decoding of all.
  virtual Status gather(Execution &execution, cuda::Stream stream) = 0;

  /// Once the stream has done a run: returns when nobody reads what this rank has encoded in it.
  virtual Status finish(Execution & /*execution*/) { return Status(); }

  /// Whether both only put work on the stream, which a CUDA graph can repeat.
  virtual bool isCapturable() const = 0;
};

/// The shortest way that the group has: a link of GPUs, then memory that all see, then messages of hosts. All
/// of the group call.
Result<std::unique_ptr<PayloadRoute>> makeRoute(const Execution &execution, const DeviceSchedule &schedule);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ROUTE_PAYLOADROUTE_H
