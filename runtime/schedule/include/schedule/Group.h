//===-- schedule/Group.h - The ranks of one collective ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_SCHEDULE_GROUP_H
#define CGX_RUNTIME_SCHEDULE_GROUP_H

#include "cgx/schedule.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace cgx {

/// The ranks that take part in one collective, and the position of this rank among them.
struct Group {
  std::vector<uint32_t> ranks;
  uint32_t position = 0;

  uint32_t size() const { return uint32_t(ranks.size()); }
};

/// Returns the row of `groups` that contains `rank`; a rank in none forms a group of its own.
inline Group groupOf(const std::vector<std::vector<uint32_t>> &groups, uint32_t rank) {
  for (const std::vector<uint32_t> &row : groups)
    for (uint32_t position = 0; position < row.size(); ++position)
      if (row[position] == rank)
        return {row, position};
  return {{rank}, 0};
}

/// Returns the group of all ranks of a job.
inline Group groupOfAll(uint32_t ranks, uint32_t rank) {
  Group group{std::vector<uint32_t>(ranks), rank};
  for (uint32_t i = 0; i < ranks; ++i)
    group.ranks[i] = i;
  return group;
}

/// Returns the place of `rank`, for a permutation, among the senders that its pairs connect with it into a
/// ring or a chain, in the order of the pairs. Along one axis of a mesh, rings that are replicas of each
/// other have equal places. Returns 0 for a rank that sends nothing.
inline uint32_t placeInPermutation(std::span<const cgx_pair> pairs, uint32_t rank) {
  std::map<uint32_t, uint32_t> targets, sources;
  for (auto [source, target] : pairs) {
    targets[source] = target;
    sources[target] = source;
  }
  std::set<uint32_t> connected = {rank};
  for (const auto *way : {&targets, &sources})
    for (auto next = way->find(rank); next != way->end() && connected.insert(next->second).second;
         next = way->find(next->second)) {
    }
  uint32_t place = 0;
  for (auto [source, target] : pairs) {
    if (source == rank)
      return place;
    place += connected.contains(source);
  }
  return 0;
}

/// Returns the group of one stage (cgx/schedule.h) of a hierarchical all-reduce that contains this rank.
inline Group groupOfStage(const Group &group, const cgx_schedule &schedule, uint32_t stage) {
  Group members{{}, cgx_position_in_stage(&schedule, stage, group.position)};
  const uint32_t count = cgx_host_stage(&schedule, group.size(), stage).ranks;
  for (uint32_t member = 0; member < count; ++member)
    members.ranks.push_back(group.ranks[cgx_member_of_stage(&schedule, stage, group.position, member)]);
  return members;
}

} // namespace cgx

#endif // CGX_RUNTIME_SCHEDULE_GROUP_H
