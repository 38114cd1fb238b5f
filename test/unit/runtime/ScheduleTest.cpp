//===-- ScheduleTest.cpp - Schedules for all rank counts --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "schedule/Schedule.h"
#include "collective/Scratch.h"
#include "collective/Slices.h"
#include "schedule/Chunks.h"

#include <bit>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

namespace cgx {
namespace {

constexpr uint32_t kMaxRanks = 8;
const std::vector<uint64_t> kSizes = {0, 1, 7, 127, 128, 129, 1000, 4096, 100003};

std::vector<cgx_codec> codecs() {
  cgx_codec four{
      .family = CGX_CODEC_QUANTIZE, .bits = 4, .bucket = 128, .rounding = 0, .scale = 0, .checksum = 0};
  cgx_codec three{
      .family = CGX_CODEC_QUANTIZE, .bits = 3, .bucket = 100, .rounding = 0, .scale = 1, .checksum = 1};
  return {cgx_codec{}, four, three};
}

cgx_pattern allReduce(uint32_t ranks, uint32_t algorithm = CGX_ALGORITHM_AUTO) {
  const cgx_collective collective{.ranks = ranks, .schedule = {.algorithm = algorithm}};
  return cgx_pattern_of(&collective);
}

/// The algorithms without hosts.
std::vector<uint32_t> flatAlgorithms() {
  std::vector<uint32_t> algorithms;
  for (uint32_t algorithm = 0; algorithm < CGX_ALGORITHM_COUNT; ++algorithm)
    if (!cgx_algorithm_has_hosts(algorithm))
      algorithms.push_back(algorithm);
  return algorithms;
}

TEST(Schedule, EveryRowOfTheTableHasANumberAndANameOfItsOwn) {
  std::set<std::string> names;
  for (uint32_t algorithm = 0; algorithm < CGX_ALGORITHM_COUNT; ++algorithm) {
    names.insert(cgx_algorithm_name(algorithm));
    EXPECT_NE((", " + std::string(CGX_ALGORITHM_NAMES) + ", ")
                  .find(", " + std::string(cgx_algorithm_name(algorithm)) + ", "),
              std::string::npos);
  }
  EXPECT_EQ(names.size(), size_t(CGX_ALGORITHM_COUNT));
  EXPECT_FALSE(names.contains(""));
  EXPECT_STREQ(cgx_algorithm_name(CGX_ALGORITHM_COUNT), "");
}

/// A collective of a group, or a stage of a hierarchical all-reduce.
struct Case {
  std::string name;
  cgx_pattern pattern;
  std::vector<cgx_pair> pairs;
};

std::vector<Case> casesOf(uint32_t ranks) {
  std::vector<Case> cases;
  const auto add = [&](const std::string &name, const cgx_collective &collective) {
    cases.push_back({name + " of " + std::to_string(ranks), cgx_pattern_of(&collective), {}});
  };
  for (uint32_t algorithm : flatAlgorithms())
    add(std::string("all_reduce by ") + cgx_algorithm_name(algorithm),
        {.ranks = ranks, .schedule = {.algorithm = algorithm}});
  for (uint32_t kind : {CGX_ALL_GATHER, CGX_REDUCE_SCATTER, CGX_ALL_TO_ALL})
    add("kind " + std::to_string(kind), {.kind = kind, .ranks = ranks});
  for (uint32_t root = 0; root < ranks; ++root)
    add("broadcast from " + std::to_string(root), {.kind = CGX_BROADCAST, .ranks = ranks, .root = root});
  for (uint32_t leaders : {CGX_LEADERS_ALL, CGX_LEADERS_ONE})
    for (uint32_t stage = 0; stage < CGX_HOST_STAGES; ++stage) {
      const cgx_schedule schedule{
          .algorithm = CGX_ALGORITHM_HIERARCHICAL, .local = ranks, .leaders = leaders};
      cases.push_back({"stage " + std::to_string(stage) + " of hosts of " + std::to_string(ranks),
                       cgx_host_stage(&schedule, stage == 1 ? ranks * ranks : ranks, stage),
                       {}});
    }
  return cases;
}

std::vector<Schedule> schedulesOf(const cgx_pattern &pattern) {
  std::vector<Schedule> schedules;
  for (uint32_t position = 0; position < pattern.ranks; ++position)
    schedules.push_back(scheduleOf(pattern, position));
  return schedules;
}

using Transfers = std::multiset<std::tuple<uint32_t, uint32_t, uint32_t>>;

Transfers setOf(const std::vector<Transfer> &transfers) {
  Transfers set;
  forEachChunk(transfers, [&](const Transfer &transfer, uint32_t chunk) {
    set.insert({transfer.from, transfer.to, chunk});
  });
  return set;
}

/// Returns the steps of all positions in a phase.
const std::vector<Step> &stepsOf(const Schedule &schedule, uint32_t phase) {
  return phase == 0 ? schedule.contributions : schedule.results;
}

void expectSendsMatchReceives(const cgx_pattern &pattern) {
  const std::vector<Schedule> schedules = schedulesOf(pattern);
  for (uint32_t phase : {0, 1})
    for (uint32_t step = 0; step < cgx_step_count(&pattern, phase); ++step) {
      Transfers sent, received;
      for (uint32_t position = 0; position < pattern.ranks; ++position) {
        const Step &own = stepsOf(schedules[position], phase)[step];
        std::set<uint32_t> targets;
        for (const Transfer &transfer : own.sends) {
          EXPECT_EQ(transfer.from, position);
          EXPECT_NE(transfer.to, position);
          EXPECT_LT(transfer.to, pattern.ranks);
          EXPECT_GE(transfer.count, 1u);
          EXPECT_TRUE(transfer.count == 1 || cgx_sends_several_chunks(&pattern));
          EXPECT_LE(transfer.chunk + transfer.count, pattern.ranks);
          EXPECT_TRUE(targets.insert(transfer.to).second) << "one message to each";
        }
        for (const Transfer &transfer : own.receives)
          EXPECT_EQ(transfer.to, position);
        sent.merge(setOf(own.sends));
        received.merge(setOf(own.receives));
      }
      EXPECT_EQ(sent, received) << "phase " << phase << ", step " << step;
    }
}

TEST(Schedule, WhatIsSentIsReceived) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (const Case &one : casesOf(ranks)) {
      SCOPED_TRACE(one.name);
      expectSendsMatchReceives(one.pattern);
    }
}

/// The positions whose contributions are in a position's copy of a chunk, by chunk.
using Contents = std::map<uint32_t, std::multiset<uint32_t>>;

/// Runs the contributions of a pattern, and returns what each position has of each chunk in the end.
std::vector<Contents> contentsOf(const cgx_pattern &pattern) {
  std::vector<Contents> has(pattern.ranks);
  for (uint32_t position = 0; position < pattern.ranks; ++position)
    for (uint32_t chunk = 0; chunk < pattern.ranks; ++chunk)
      has[position][chunk] = {position};
  const std::vector<Schedule> schedules = schedulesOf(pattern);
  for (uint32_t step = 0; step < cgx_step_count(&pattern, 0); ++step) {
    const std::vector<Contents> before = has;
    for (const Schedule &schedule : schedules)
      forEachChunk(schedule.contributions[step].receives, [&](const Transfer &transfer, uint32_t chunk) {
        const std::multiset<uint32_t> &sent = before[transfer.from].at(chunk);
        has[transfer.to][chunk].insert(sent.begin(), sent.end());
      });
  }
  return has;
}

/// Whether a chunk of a tensor of many elements has any.
bool hasElements(const cgx_pattern &pattern, uint32_t chunk) {
  const cgx_codec exact{};
  return cgx_part_elements(&pattern, &exact, uint64_t(1) << 20, chunk) != 0;
}

TEST(Schedule, OwnersGetEveryContributionOnce) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (const Case &one : casesOf(ranks)) {
      SCOPED_TRACE(one.name);
      if (one.pattern.movement[0] == CGX_MOVE_NONE)
        continue;
      const std::vector<Contents> has = contentsOf(one.pattern);
      std::multiset<uint32_t> all;
      for (uint32_t position = 0; position < ranks; ++position)
        all.insert(position);
      for (uint32_t chunk = 0; chunk < ranks; ++chunk)
        if (hasElements(one.pattern, chunk)) {
          EXPECT_EQ(has[chunk].at(chunk), all) << "chunk " << chunk;
        }
    }
}

TEST(Schedule, EverybodyGetsEachResultOnceAndOnlyFromOneThatHasIt) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (const Case &one : casesOf(ranks)) {
      SCOPED_TRACE(one.name);
      if (one.pattern.movement[1] == CGX_MOVE_NONE)
        continue;
      const std::vector<Schedule> schedules = schedulesOf(one.pattern);
      std::set<uint32_t> chunks;
      std::vector<std::set<uint32_t>> has(ranks);
      for (uint32_t chunk = 0; chunk < ranks; ++chunk)
        if (hasElements(one.pattern, chunk)) {
          chunks.insert(chunk);
          has[chunk].insert(chunk);
        }
      for (uint32_t step = 0; step < cgx_step_count(&one.pattern, 1); ++step) {
        const std::vector<std::set<uint32_t>> before = has;
        for (const Schedule &schedule : schedules)
          forEachChunk(schedule.results[step].receives, [&](const Transfer &transfer, uint32_t chunk) {
            if (!chunks.contains(chunk)) // other chunks have no elements
              return;
            EXPECT_TRUE(before[transfer.from].contains(chunk));
            EXPECT_TRUE(has[transfer.to].insert(chunk).second) << "chunk " << chunk << " for " << transfer.to;
          });
      }
      for (uint32_t position = 0; position < ranks; ++position)
        EXPECT_EQ(has[position], chunks) << "position " << position;
    }
}

// Each host adds up its own ranks, the owners of each chunk add up the hosts, and each host distributes its
// owners' results.
TEST(Schedule, HierarchicalAllReducesBringEveryContributionToEverybodyOnce) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (uint32_t local = 1; local <= ranks; ++local)
      for (uint32_t leaders : {CGX_LEADERS_ALL, CGX_LEADERS_ONE}) {
        if (ranks % local != 0)
          continue;
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(local) + " a host");
        const cgx_schedule schedule{
            .algorithm = CGX_ALGORITHM_HIERARCHICAL, .local = local, .leaders = leaders};
        for (uint32_t position = 0; position < ranks; ++position) {
          const Group group = groupOfAll(ranks, position), host = groupOfStage(group, schedule, 0),
                      owners = groupOfStage(group, schedule, 1);
          EXPECT_EQ(host.ranks[host.position], position);
          EXPECT_EQ(owners.ranks[owners.position], position);
          EXPECT_EQ(groupOfStage(group, schedule, 2).ranks, host.ranks);
          // The hosts of all owners of a chunk contain all ranks, each once.
          std::multiset<uint32_t> reached;
          for (uint32_t owner : owners.ranks)
            for (uint32_t rank : groupOfStage(groupOfAll(ranks, owner), schedule, 0).ranks)
              reached.insert(rank);
          EXPECT_EQ(reached.size(), ranks);
          EXPECT_EQ(std::set<uint32_t>(reached.begin(), reached.end()).size(), ranks);
        }
        for (uint32_t stage = 0; stage < CGX_HOST_STAGES; ++stage)
          expectSendsMatchReceives(cgx_host_stage(&schedule, ranks, stage));
      }
}

TEST(Schedule, PermutationsSendEachPairOnceAndNothingToThemselves) {
  const std::vector<cgx_pair> pairs = {{2, 0}, {1, 1}, {3, 4}, {0, 3}};
  const cgx_collective collective{
      .kind = CGX_PERMUTE, .ranks = 5, .pairs = pairs.data(), .pair_count = pairs.size()};
  const cgx_pattern pattern = cgx_pattern_of(&collective);
  expectSendsMatchReceives(pattern);
  Transfers sent;
  for (const Schedule &schedule : schedulesOf(pattern))
    sent.merge(setOf(schedule.contributions.front().sends));
  EXPECT_EQ(sent, (Transfers{{2, 0, 0}, {3, 4, 0}, {0, 3, 0}}));
}

TEST(Schedule, PartsCoverTheTensor) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (const Case &one : casesOf(ranks))
      for (uint64_t elements : kSizes)
        for (const cgx_codec &codec : codecs()) {
          const uint64_t size = one.pattern.cut == CGX_CUT_SLICES ? elements * ranks : elements;
          uint64_t covered = 0;
          const bool areCopies = one.pattern.cut == CGX_CUT_COPIES;
          for (uint32_t chunk = 0; chunk < ranks; ++chunk) {
            EXPECT_EQ(cgx_part_begin(&one.pattern, &codec, size, chunk), areCopies ? 0 : covered) << one.name;
            covered += cgx_part_elements(&one.pattern, &codec, size, chunk);
          }
          EXPECT_EQ(covered, areCopies || one.pattern.cut == CGX_CUT_NONE ? size * ranks : size) << one.name;
        }
}

// The expected bytes come from a formula, not from counting steps.
TEST(Schedule, WireBytesOfCollectivesOfOneExchangeAreThoseOfTheirPayloads) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (uint64_t slice : kSizes)
      for (const cgx_codec &codec : codecs())
        for (uint32_t position = 0; position < ranks; ++position) {
          const uint64_t elements = slice * ranks, others = ranks - 1,
                         whole = cgx_payload_bytes(&codec, CGX_F32, elements),
                         part = cgx_payload_bytes(&codec, CGX_F32, slice);
          const std::vector<cgx_pair> around = {{0, ranks - 1}, {ranks - 1, 0}};
          const auto bytes = [&](uint32_t kind) {
            const cgx_collective collective{.kind = kind,
                                            .ranks = ranks,
                                            .root = ranks / 2,
                                            .pairs = around.data(),
                                            .pair_count = around.size()};
            return cgx_collective_wire_bytes(&collective, &codec, &codec, CGX_F32, elements, position);
          };
          EXPECT_EQ(bytes(CGX_ALL_GATHER), others * whole);
          EXPECT_EQ(bytes(CGX_REDUCE_SCATTER), others * part);
          EXPECT_EQ(bytes(CGX_ALL_TO_ALL), others * part);
          EXPECT_EQ(bytes(CGX_BROADCAST), position == ranks / 2 ? others * whole : 0);
          EXPECT_EQ(bytes(CGX_PERMUTE), ranks > 1 && (position == 0 || position + 1 == ranks) ? whole : 0);
        }
}

TEST(Schedule, ChunksCoverTheTensorAndTheFirstIsTheLargest) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        Chunks chunks{allReduce(ranks), codec, CGX_F32, elements};
        uint64_t covered = 0;
        for (uint32_t chunk = 0; chunk < ranks; ++chunk) {
          EXPECT_EQ(chunks.begin(chunk), covered);
          EXPECT_LE(chunks.payload(chunk), chunks.slot());
          EXPECT_LE(chunks.size(chunk), chunks.size(0));
          covered += chunks.size(chunk);
        }
        EXPECT_EQ(covered, elements);
        EXPECT_EQ(chunks.payloadBegins().size(), ranks + 1);
      }
}

TEST(Schedule, WireBytesOfAllRanksAreWhatAllReceive) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        Chunks chunks{allReduce(ranks), codec, CGX_F32, elements};
        uint64_t sent = 0;
        for (uint32_t position = 0; position < ranks; ++position)
          sent += cgx_all_reduce_wire_bytes(&codec, CGX_F32, elements, ranks, position);
        // Each chunk's payload is sent from N - 1 ranks to its owner, and back to N - 1.
        EXPECT_EQ(sent, 2 * (ranks - 1) * chunks.payloadBegins().back());
      }
}

TEST(Schedule, RingsAndTreesSendEachPayloadToAllButOneTwice) {
  for (uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        cgx_schedule ring{.algorithm = CGX_ALGORITHM_RING}, tree{.algorithm = CGX_ALGORITHM_TREE};
        uint64_t byRing = 0, byTree = 0;
        for (uint32_t position = 0; position < ranks; ++position) {
          byRing += cgx_scheduled_wire_bytes(&ring, &codec, CGX_F32, elements, ranks, position);
          byTree += cgx_scheduled_wire_bytes(&tree, &codec, CGX_F32, elements, ranks, position);
        }
        Chunks chunks{allReduce(ranks), codec, CGX_F32, elements},
            whole{allReduce(1), codec, CGX_F32, elements};
        EXPECT_EQ(byRing, 2 * (ranks - 1) * chunks.payloadBegins().back());
        EXPECT_EQ(byTree, 2 * (ranks - 1) * whole.payload(0));
      }
}

// In steps as few as a tree's, of bytes as few as a ring's.
TEST(Schedule, HalvingSendsEachPayloadOnceUpAndDown) {
  for (uint32_t ranks = 2; ranks <= 64; ++ranks) {
    const cgx_schedule schedule{.algorithm = CGX_ALGORITHM_HALVING_DOUBLING};
    const cgx_pattern pattern = allReduce(ranks, schedule.algorithm);
    const uint32_t power = std::bit_floor(ranks);
    EXPECT_EQ(cgx_power_below(ranks), power);
    EXPECT_EQ(cgx_step_count(&pattern, 0), uint32_t(std::bit_width(ranks - 1)));
    EXPECT_EQ(cgx_step_count(&pattern, 1), uint32_t(std::bit_width(ranks - 1)));
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        const Chunks chunks{allReduce(power), codec, CGX_F32, elements};
        uint64_t sent = 0;
        for (uint32_t position = 0; position < ranks; ++position)
          sent += cgx_scheduled_wire_bytes(&schedule, &codec, CGX_F32, elements, ranks, position);
        // The first `power` ranks, and each other one gives and gets all once more.
        EXPECT_EQ(sent, 2 * (ranks - 1) * chunks.payloadBegins().back());
      }
  }
}

TEST(Schedule, OneShotSendsAWholePayloadToEachOther) {
  for (uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        const cgx_schedule schedule{.algorithm = CGX_ALGORITHM_ONE_SHOT};
        const Chunks whole{allReduce(1), codec, CGX_F32, elements};
        for (uint32_t position = 0; position < ranks; ++position) {
          EXPECT_EQ(cgx_scheduled_wire_bytes(&schedule, &codec, CGX_F32, elements, ranks, position),
                    (ranks - 1) * whole.payload(0));
          const EncodedRanges ranges =
              encodedRanges(schedule, codec, false, CGX_F32, elements, groupOfAll(ranks, position));
          EXPECT_EQ(ranges.contribution.size, elements);
          EXPECT_EQ(ranges.result.size, 0u);
        }
      }
}

// Without a measured link, a second message is avoided only for few bytes: 6 KiB take 0.5 ms at 100 Mbit.
TEST(Schedule, ShortOperandsAreForOneShot) {
  EXPECT_FALSE(cgx_is_for_one_shot(1, 4));
  EXPECT_TRUE(cgx_is_for_one_shot(2, 32 * 1024));
  EXPECT_FALSE(cgx_is_for_one_shot(2, 32 * 1024 + 1));
  for (uint32_t ranks = 2; ranks <= 32; ++ranks) {
    EXPECT_TRUE(cgx_is_for_one_shot(ranks, 0));
    EXPECT_TRUE(cgx_is_for_one_shot(ranks, 4));
    for (uint64_t bytes = 4; cgx_is_for_one_shot(ranks, bytes); bytes *= 2) {
      const cgx_schedule one{.algorithm = CGX_ALGORITHM_ONE_SHOT};
      const cgx_codec exact{};
      EXPECT_LE(cgx_scheduled_wire_bytes(&one, &exact, CGX_F32, bytes / 4, ranks, 0),
                cgx_all_reduce_wire_bytes(&exact, CGX_F32, bytes / 4, ranks, 0) + 6144 + 128 * ranks);
    }
  }
  EXPECT_FALSE(cgx_is_for_one_shot(33, 4));
  EXPECT_TRUE(cgx_is_for_one_shot(4, 4096));
  EXPECT_FALSE(cgx_is_for_one_shot(4, 4100));
}

TEST(Schedule, HostsOfOneAndOneHostOfAllAreNoHierarchy) {
  for (uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks)
    for (const cgx_codec &codec : codecs())
      for (uint32_t position = 0; position < ranks; ++position) {
        cgx_schedule flat{}, hosts{.algorithm = CGX_ALGORITHM_HIERARCHICAL, .local = 1},
            host{.algorithm = CGX_ALGORITHM_HIERARCHICAL, .local = ranks, .inside = codec};
        uint64_t expected = cgx_scheduled_wire_bytes(&flat, &codec, CGX_F32, 100003, ranks, position);
        EXPECT_EQ(cgx_scheduled_wire_bytes(&hosts, &codec, CGX_F32, 100003, ranks, position), expected);
        EXPECT_EQ(cgx_scheduled_wire_bytes(&host, &codec, CGX_F32, 100003, ranks, position), expected);
      }
}

// Error feedback then has one error per element to keep, and loses none.
TEST(Schedule, EachElementOfTheResultIsEncodedOnce) {
  constexpr uint64_t elements = 1000;
  for (uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks)
    for (uint32_t algorithm : flatAlgorithms()) {
      if (!cgx_algorithm_sends_results(algorithm))
        continue;
      cgx_schedule schedule{.algorithm = algorithm};
      uint64_t encoded = 0;
      for (uint32_t position = 0; position < ranks; ++position)
        encoded += encodedRanges(schedule, codecs()[1], /*isUncompressed=*/false, CGX_F32, elements,
                                 groupOfAll(ranks, position))
                       .result.size;
      EXPECT_EQ(encoded, elements);
    }
}

TEST(Schedule, GroupOfFindsThePositionOrMakesAGroupOfOne) {
  std::vector<std::vector<uint32_t>> groups = {{4, 0, 2}, {1, 3}};
  EXPECT_EQ(groupOf(groups, 0).position, 1u);
  EXPECT_EQ(groupOf(groups, 0).ranks, groups[0]);
  EXPECT_EQ(groupOf(groups, 3).position, 1u);
  EXPECT_EQ(groupOf(groups, 7).ranks, std::vector<uint32_t>{7});
  EXPECT_EQ(groupOf(groups, 7).position, 0u);
}

TEST(Schedule, PlacesInAPermutationAreThoseOfItsRings) {
  const auto place = [](const std::vector<cgx_pair> &pairs, uint32_t rank) {
    return placeInPermutation(pairs, rank);
  };
  // The pairs are two rings of a mesh, in JAX's order, and in the order of their sources.
  EXPECT_EQ(place({{0, 2}, {2, 4}, {4, 0}, {1, 3}, {3, 5}, {5, 1}}, 4), 2u);
  for (uint32_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(place({{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}, {5, 1}}, rank), rank / 2);
  // The pairs are a chain whose last rank sends nothing, listed from any place in it, and a rank that sends
  // to itself.
  EXPECT_EQ(place({{7, 3}, {3, 5}, {0, 0}}, 7), 0u);
  EXPECT_EQ(place({{7, 3}, {3, 5}, {0, 0}}, 3), 1u);
  EXPECT_EQ(place({{7, 3}, {3, 5}, {0, 0}}, 5), 0u);
  EXPECT_EQ(place({{7, 3}, {3, 5}, {0, 0}}, 0), 0u);
  EXPECT_EQ(place({}, 2), 0u);
}

TEST(Slices, ExtractedSlicesMakeTheTensorAgain) {
  std::vector<uint64_t> shape = {4, 6, 2};
  std::vector<uint16_t> tensor(48), again(48, 0);
  std::iota(tensor.begin(), tensor.end(), uint16_t(0));
  for (uint64_t dim = 0; dim < 3; ++dim) {
    Slices slices(shape, dim, 2, sizeof(uint16_t));
    EXPECT_EQ(slices.contiguous(), dim == 0);
    std::vector<std::byte> dense(slices.bytes());
    for (uint64_t slice = 0; slice < 2; ++slice) {
      slices.extract(reinterpret_cast<const std::byte *>(tensor.data()), slice, dense.data());
      slices.insert(dense.data(), slice, reinterpret_cast<std::byte *>(again.data()));
    }
    EXPECT_EQ(again, tensor);
  }
}

TEST(Scratch, StopsAllocatingWhenTheNeedIsSteady) {
  Scratch scratch;
  std::byte *first = nullptr;
  for (int round = 0; round < 10; ++round) {
    scratch.reset();
    std::byte *a = scratch.take(1000), *b = scratch.take(100000), *empty = scratch.take(0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % Scratch::kAlignment, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % Scratch::kAlignment, 0u);
    EXPECT_NE(empty, nullptr);
    if (round == 1)
      first = a;
    EXPECT_TRUE(round < 1 || a == first) << "the same memory in every round";
  }
}

} // namespace
} // namespace cgx
