//===-- CostTest.cpp - Properties of the cost model -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/cost.h"
#include "Programs.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

constexpr uint64_t kLarge = 1 << 24, kSmall = 16;

cgx_machine machineOf(double bytesPerSecond, uint64_t local = 1) {
  return {.link = {.latency_seconds = 5e-5, .message_seconds = 5e-6, .bytes_per_second = bytesPerSecond},
          .inside = {.latency_seconds = 1e-6, .message_seconds = 1e-7, .bytes_per_second = 1e10},
          .local = local,
          .reduce_bytes_per_second = 1e10};
}

double seconds(const cgx_machine &machine, const cgx_schedule &schedule, const cgx_codec &codec,
               uint64_t elements, uint64_t ranks) {
  cgx_costed_operand operand{.codec = codec,
                             .rates = {.encode_bytes_per_second = 5e9, .decode_bytes_per_second = 1e10},
                             .inside_rates = {},
                             .element_type = CGX_F32,
                             .elements = elements};
  return cgx_all_reduce_seconds(&machine, &schedule, &operand, 1, ranks);
}

TEST(Cost, AGroupOfOneTakesNoTime) {
  for (uint32_t algorithm = 0; algorithm < CGX_ALGORITHM_COUNT; ++algorithm)
    EXPECT_EQ(seconds(machineOf(1e9), {.algorithm = algorithm}, quantize(4, 128), kLarge, 1), 0);
}

TEST(Cost, CompressionPaysOverASlowLinkOnly) {
  for (uint32_t algorithm : {CGX_ALGORITHM_AUTO, CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER, CGX_ALGORITHM_RING,
                             CGX_ALGORITHM_TREE, CGX_ALGORITHM_HALVING_DOUBLING})
    for (uint64_t ranks : {2, 3, 4, 8, 64}) {
      cgx_schedule schedule{.algorithm = algorithm};
      cgx_machine slow = machineOf(1.25e8), fast = machineOf(1e11);
      EXPECT_LT(seconds(slow, schedule, quantize(4, 128), kLarge, ranks),
                seconds(slow, schedule, {}, kLarge, ranks));
      EXPECT_GT(seconds(fast, schedule, quantize(4, 128), kLarge, ranks),
                seconds(fast, schedule, {}, kLarge, ranks));
    }
}

// While the link limits the time, a seventh of the bytes takes almost a seventh of the time.
TEST(Cost, BytesBoundTheSpeedup) {
  cgx_machine slow = machineOf(1.25e7);
  double speedup = seconds(slow, {}, {}, kLarge, 4) / seconds(slow, {}, quantize(4, 128), kLarge, 4);
  EXPECT_GT(speedup, 6.5);
  EXPECT_LT(speedup, 7.6);
}

TEST(Cost, SmallOperandsOfManyRanksGoUpATree) {
  cgx_machine machine = machineOf(1.25e9);
  double tree = seconds(machine, {.algorithm = CGX_ALGORITHM_TREE}, {}, kSmall, 256);
  EXPECT_LT(tree, seconds(machine, {.algorithm = CGX_ALGORITHM_RING}, {}, kSmall, 256));
  EXPECT_LT(tree, seconds(machine, {}, {}, kSmall, 256));
  EXPECT_GT(seconds(machine, {.algorithm = CGX_ALGORITHM_TREE}, {}, kLarge, 256),
            seconds(machine, {}, {}, kLarge, 256));
}

// Two partners at a time wait as often as a tree does, and send no more than a ring.
TEST(Cost, LargeOperandsOfManyRanksAreHalved) {
  const cgx_machine machine = machineOf(1.25e9);
  const cgx_schedule halving{.algorithm = CGX_ALGORITHM_HALVING_DOUBLING};
  for (uint64_t elements : {kSmall, kLarge}) {
    EXPECT_LT(seconds(machine, halving, {}, elements, 256),
              seconds(machine, {.algorithm = CGX_ALGORITHM_RING}, {}, elements, 256));
    EXPECT_LT(seconds(machine, halving, {}, elements, 256), seconds(machine, halving, {}, elements, 257));
  }
  EXPECT_LT(seconds(machine, halving, {}, kLarge, 256),
            seconds(machine, {.algorithm = CGX_ALGORITHM_TREE}, {}, kLarge, 256));
}

TEST(Cost, ShortOperandsOfFewRanksAreForOneShot) {
  const cgx_schedule oneShot{.algorithm = CGX_ALGORITHM_ONE_SHOT};
  for (double rate : {1.25e7, 1.25e8, 1.25e9}) {
    const cgx_machine machine = machineOf(rate);
    for (uint64_t ranks : {2, 4, 8}) {
      EXPECT_LT(seconds(machine, oneShot, {}, /*elements=*/16, ranks), seconds(machine, {}, {}, 16, ranks));
      EXPECT_LT(seconds(machine, oneShot, {}, 16, ranks),
                seconds(machine, {.algorithm = CGX_ALGORITHM_TREE}, {}, 16, ranks));
    }
    EXPECT_GT(seconds(machine, oneShot, {}, kLarge, 4), 1.5 * seconds(machine, {}, {}, kLarge, 4));
  }
}

TEST(Cost, HostsOfManyRanksReduceInsideFirst) {
  cgx_machine machine = machineOf(1.25e9, /*local=*/8);
  cgx_schedule all{.algorithm = CGX_ALGORITHM_HIERARCHICAL, .local = 8}, one = all;
  one.leaders = CGX_LEADERS_ONE;
  double byAll = seconds(machine, all, quantize(4, 128), kLarge, 32);
  EXPECT_LT(byAll, seconds(machine, {}, quantize(4, 128), kLarge, 32));
  EXPECT_LT(byAll, seconds(machine, one, quantize(4, 128), kLarge, 32));
}

TEST(Cost, MoreRanksAreNeverFaster) {
  for (uint32_t algorithm : {CGX_ALGORITHM_AUTO, CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER, CGX_ALGORITHM_RING,
                             CGX_ALGORITHM_TREE, CGX_ALGORITHM_HALVING_DOUBLING}) {
    double before = 0;
    for (uint64_t ranks = 2; ranks <= 4096; ranks *= 2) {
      double now = seconds(machineOf(1.25e9), {.algorithm = algorithm}, {}, kLarge, ranks);
      EXPECT_GE(now, before) << "algorithm " << algorithm << ", " << ranks << " ranks";
      before = now;
    }
  }
}

TEST(Cost, FactorsTakeTwoRounds) {
  cgx_codec lowrank{.family = CGX_CODEC_LOWRANK, .rank = 2, .rows = 4096};
  cgx_machine slow = machineOf(1.25e8);
  double time = seconds(slow, {}, lowrank, kLarge, 4);
  EXPECT_LT(time, seconds(slow, {}, quantize(4, 128), kLarge, 4));
  EXPECT_GT(time, 4 * slow.link.latency_seconds);
}

} // namespace
} // namespace cgx::test
