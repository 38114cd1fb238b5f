//===-- collective/HostStages.h - An all-reduce of hosts, in three stages -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first half of a scatter-reduce-allgather among the ranks of a host, an all-reduce of the own chunk
// among its owners on all hosts, and the second half. A mean is one of means.
//
// The three stages draw different random numbers. What a rank hands out on its host last is
// encoded on every host from the same bits with the same random numbers, so that all hosts
// end with the same result.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_HOSTSTAGES_H
#define CGX_RUNTIME_COLLECTIVE_HOSTSTAGES_H

#include "collective/Collective.h"

namespace cgx {

/// The stages of one hierarchical collective, which are the same in each step.
class HostStages {
public:
  HostStages(const CollectiveInfo &collective, const Group &group);

  uint32_t hosts() const { return owners.size(); }
  uint32_t ranksOfHost() const { return host.size(); }

  /// Returns the state of operands inside hosts, which is only how often they ran.
  static std::vector<OperandState> insideStates(std::span<const OperandState> states);

  // The stages of an execution of the collective; both inside of a host with insideStates().
  Execution reduction(const Execution &execution, std::span<OperandState> inside) const;
  Execution between(const Execution &execution) const;
  Execution gathering(const Execution &execution, std::span<OperandState> inside) const;

  /// The chunks that this rank owns of the operands, in their place in the outputs.
  std::vector<OperandBuffers> ownChunks(Buffers operands) const;

private:
  CollectiveInfo inside, betweenHosts;
  Group host, owners; ///< the ranks of this rank's host, and those at its place on all hosts
  std::array<cgx_pattern, CGX_HOST_STAGES> patterns;
  std::vector<uint64_t> begins; ///< of the own chunks, in bytes
};

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_HOSTSTAGES_H
