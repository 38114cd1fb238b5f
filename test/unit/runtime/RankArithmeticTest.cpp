//===-- RankArithmeticTest.cpp - Who holds what, for all rank counts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/RankArithmetic.h"
#include "collective/Scratch.h"
#include "collective/Slices.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>

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

TEST(RankArithmetic, ChunksCoverTheTensorAndTheFirstIsTheLargest) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        Chunks chunks{codec, CGX_F32, elements, ranks};
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

TEST(RankArithmetic, WireBytesOfAllRanksAreWhatAllReceive) {
  for (uint32_t ranks = 1; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        Chunks chunks{codec, CGX_F32, elements, ranks};
        uint64_t sent = 0;
        for (uint32_t position = 0; position < ranks; ++position)
          sent += allReduceWireBytes(chunks, position);
        // Each chunk's payload travels from N - 1 ranks to its owner, and back to N - 1.
        EXPECT_EQ(sent, 2 * (ranks - 1) * chunks.payloadBegins().back());
      }
}

TEST(RankArithmetic, RingsAndTreesSendEachPayloadToAllButOneTwice) {
  for (uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks)
    for (uint64_t elements : kSizes)
      for (const cgx_codec &codec : codecs()) {
        cgx_schedule ring{.algorithm = CGX_ALGORITHM_RING}, tree{.algorithm = CGX_ALGORITHM_TREE};
        uint64_t byRing = 0, byTree = 0;
        for (uint32_t position = 0; position < ranks; ++position) {
          byRing += cgx_scheduled_wire_bytes(&ring, &codec, CGX_F32, elements, ranks, position);
          byTree += cgx_scheduled_wire_bytes(&tree, &codec, CGX_F32, elements, ranks, position);
        }
        Chunks chunks{codec, CGX_F32, elements, ranks}, whole{codec, CGX_F32, elements, 1};
        EXPECT_EQ(byRing, 2 * (ranks - 1) * chunks.payloadBegins().back());
        EXPECT_EQ(byTree, 2 * (ranks - 1) * whole.payload(0));
      }
}

TEST(RankArithmetic, HostsOfOneAndOneHostOfAllAreNoHierarchy) {
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

TEST(RankArithmetic, ATreeReachesEveryPositionOnce) {
  for (uint32_t size = 1; size <= 40; ++size) {
    std::multiset<uint32_t> reached;
    for (uint32_t position = 0; position < size; ++position) {
      std::vector<uint32_t> children = treeChildren(position, size);
      EXPECT_EQ(children.size(), cgx_tree_children(size, position));
      for (uint32_t child : children) {
        EXPECT_EQ(treeParent(child), position);
        reached.insert(child);
      }
    }
    EXPECT_EQ(reached.size(), size - 1);
    EXPECT_EQ(std::set<uint32_t>(reached.begin(), reached.end()).size(), size - 1);
    EXPECT_EQ(reached.count(0), 0u);
  }
}

// So that error feedback has one loss of each element to remember, and none is forgotten.
TEST(RankArithmetic, EachElementOfTheResultIsEncodedOnce) {
  constexpr uint64_t elements = 1000;
  for (uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks)
    for (uint32_t algorithm = 0; algorithm < CGX_ALGORITHM_HIERARCHICAL; ++algorithm) {
      cgx_schedule schedule{.algorithm = algorithm};
      uint64_t encoded = 0;
      for (uint32_t position = 0; position < ranks; ++position)
        encoded += encodedRanges(schedule, codecs()[1], /*isExact=*/false, CGX_F32, elements,
                                 groupOfAll(ranks, position))
                       .result.size;
      EXPECT_EQ(encoded, elements);
    }
}

TEST(RankArithmetic, InEachRoundEveryPositionIsTurnedToOnce) {
  for (uint32_t size = 1; size <= kMaxRanks; ++size)
    for (uint32_t round = 1; round < size; ++round) {
      std::set<uint32_t> targets;
      for (uint32_t position = 0; position < size; ++position) {
        uint32_t peer = peerInRound(position, size, round);
        EXPECT_NE(peer, position);
        EXPECT_EQ(peerInRound(peer, size, size - round), position) << "the sender of a round is its inverse";
        targets.insert(peer);
      }
      EXPECT_EQ(targets.size(), size);
    }
}

TEST(RankArithmetic, GroupOfFindsThePositionOrMakesAGroupOfOne) {
  std::vector<std::vector<uint32_t>> groups = {{4, 0, 2}, {1, 3}};
  EXPECT_EQ(groupOf(groups, 0).position, 1u);
  EXPECT_EQ(groupOf(groups, 0).ranks, groups[0]);
  EXPECT_EQ(groupOf(groups, 3).position, 1u);
  EXPECT_EQ(groupOf(groups, 7).ranks, std::vector<uint32_t>{7});
  EXPECT_EQ(groupOf(groups, 7).position, 0u);
}

TEST(RankArithmetic, PlacesInAPermutationAreThoseOfItsRings) {
  // Two rings of a mesh, in the order of JAX, and of who lists pairs by their source.
  EXPECT_EQ(placeInPermutation({{0, 2}, {2, 4}, {4, 0}, {1, 3}, {3, 5}, {5, 1}}, 4), 2u);
  for (uint32_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(placeInPermutation({{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}, {5, 1}}, rank), rank / 2);
  // A chain, whose last rank sends nothing, from any place in it; a rank that sends to itself.
  EXPECT_EQ(placeInPermutation({{7, 3}, {3, 5}, {0, 0}}, 7), 0u);
  EXPECT_EQ(placeInPermutation({{7, 3}, {3, 5}, {0, 0}}, 3), 1u);
  EXPECT_EQ(placeInPermutation({{7, 3}, {3, 5}, {0, 0}}, 5), 0u);
  EXPECT_EQ(placeInPermutation({{7, 3}, {3, 5}, {0, 0}}, 0), 0u);
  EXPECT_EQ(placeInPermutation({}, 2), 0u);
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
