//===-- TrafficTest.cpp - Bytes that a manifest promises -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's CollectiveTest shows for every kind that the bytes of a schedule are those that leave a rank.
// This file tests which ranks are in which group.

#include "../../../tools/run/lib/Traffic.h"

#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

constexpr uint64_t kElements = 1024;

/// Returns a collective with two groups of four and two ranks, in an order of their own. Rank 6 is in no
/// group.
Collective collectiveOf(uint32_t kind) {
  Collective collective;
  collective.kind = kind;
  collective.root = 1;
  collective.groups = {{3, 0, 4, 1}, {5, 2}};
  collective.pairs = {{0, 3}, {5, 5}};
  return collective;
}

Operand compressed() {
  Operand operand;
  operand.elements = kElements;
  operand.codec = {.family = CGX_CODEC_QUANTIZE, .bits = 4, .bucket = 128};
  return operand;
}

uint64_t payload(uint64_t elements) {
  const Operand operand = compressed();
  return cgx_payload_bytes(&operand.codec, CGX_F32, elements);
}

std::vector<uint64_t> wireOf(uint32_t kind) {
  std::vector<uint64_t> bytes;
  for (uint32_t rank = 0; rank < 7; ++rank)
    bytes.push_back(traffic(collectiveOf(kind), compressed(), 7, rank).wire);
  return bytes;
}

TEST(Traffic, EveryKindPromisesItsBytesByRank) {
  const uint64_t whole = payload(kElements), fourth = payload(kElements / 4), half = payload(kElements / 2);
  using Bytes = std::vector<uint64_t>;
  EXPECT_EQ(wireOf(CGX_ALL_REDUCE),
            (Bytes{6 * fourth, 6 * fourth, 2 * half, 6 * fourth, 6 * fourth, 2 * half, 0}));
  EXPECT_EQ(wireOf(CGX_ALL_GATHER), (Bytes{3 * whole, 3 * whole, whole, 3 * whole, 3 * whole, whole, 0}));
  EXPECT_EQ(wireOf(CGX_REDUCE_SCATTER),
            (Bytes{3 * fourth, 3 * fourth, half, 3 * fourth, 3 * fourth, half, 0}));
  EXPECT_EQ(wireOf(CGX_ALL_TO_ALL), wireOf(CGX_REDUCE_SCATTER));
  EXPECT_EQ(wireOf(CGX_BROADCAST), (Bytes{3 * whole, 0, whole, 0, 0, 0, 0}));
  EXPECT_EQ(wireOf(CGX_PERMUTE), (Bytes{whole, 0, 0, 0, 0, 0, 0}));
}

TEST(Traffic, RawBytesAreThoseOfTheElements) {
  const Traffic gathered = traffic(collectiveOf(CGX_ALL_GATHER), compressed(), 7, 0);
  EXPECT_EQ(gathered.raw, 3 * 4 * kElements);
  EXPECT_FALSE(gathered.isMost);
  EXPECT_TRUE(gathered.allows(gathered.wire));
  EXPECT_FALSE(gathered.allows(gathered.wire - 1));
  Operand varying = compressed();
  varying.codec = {.family = CGX_CODEC_LOSSLESS};
  EXPECT_TRUE(traffic(collectiveOf(CGX_ALL_GATHER), varying, 7, 0).isMost);
}

} // namespace
