//===-- collective/EagerGroup.h - Eager messages of a group -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_EAGERGROUP_H
#define CGX_RUNTIME_COLLECTIVE_EAGERGROUP_H

#include "collective/Collective.h"
#include "transport/EagerSlots.h"

namespace cgx {

/// The eager messages that positions of a group have sent this rank.
class EagerGroup {
public:
  EagerGroup(const Execution &execution, EagerSlots &eagerSlots)
      : execution(execution), eagerSlots(eagerSlots) {}

  /// The one of that position which is due now, or null if it has not come yet.
  const EagerMessage *due(uint32_t position, uint32_t phase) const {
    return eagerSlots.front(execution.group.ranks[position], phase);
  }

  /// Checks that the message is the one that this rank waits for.
  Status check(uint32_t position, const EagerMessage &eager, const Tag &expected, uint64_t bytes) const;

  /// Fails if a position has left the job that owes something: `owes(position)`.
  template <typename Owes> Status checkLeavers(Owes owes) const {
    for (uint32_t position = 0; position < execution.group.size(); ++position) {
      uint32_t rank = execution.group.ranks[position];
      // In this order: it sent everything before it left.
      if (position == execution.self() || !eagerSlots.hasLeft(rank) || !owes(position))
        continue;
      // A message that the rank sent before it left explains more than its leaving does.
      bool moved = false;
      if (Status told = execution.transport.progress(moved); !told.ok())
        return told;
      return Status::error(CGX_PEER_DIED, "rank ", rank, " left the job");
    }
    return Status();
  }

  /// The ranks that owe something.
  template <typename Owes> std::set<uint32_t> pending(Owes owes) const {
    std::set<uint32_t> ranks;
    for (uint32_t position = 0; position < execution.group.size(); ++position)
      if (owes(position))
        ranks.insert(execution.group.ranks[position]);
    return ranks;
  }

private:
  const Execution &execution;
  EagerSlots &eagerSlots;
};

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_EAGERGROUP_H
