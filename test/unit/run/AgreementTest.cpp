//===-- AgreementTest.cpp - Facts that ranks have in common -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Agreement.h"

#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

Fact option(const std::string &name, const std::string &value) { return {name, value, value, false}; }
Fact following(const std::string &name, const std::string &value) { return {name, value, value, true}; }

TEST(Agreement, NamesEachFactThatDiffersOnceWithTheRanksOfEachValue) {
  EXPECT_EQ(describeDifferences({{option("--steps", "5"), option("--seed", "0")},
                                 {option("--steps", "6"), option("--seed", "0")},
                                 {option("--steps", "5"), option("--seed", "7")}}),
            "--steps is 5 on ranks 0 and 2; 6 on rank 1, and --seed is 0 on ranks 0 and 1; 7 on rank 2");
}

TEST(Agreement, SaysNothingOfEqualFacts) {
  const std::vector<Fact> facts = {option("--steps", "5"), following("the program", "step.mlir")};
  EXPECT_EQ(describeDifferences({facts, facts}), "");
}

TEST(Agreement, NamesWhatFollowsFromOthersOnlyByItself) {
  const auto rank = [](const std::string &compress, const std::string &program) {
    return std::vector<Fact>{option("--compress", compress), following("the program", program)};
  };
  EXPECT_EQ(describeDifferences({rank("bits=4", "A"), rank("bits=5", "B")}),
            "--compress is bits=4 on rank 0; bits=5 on rank 1");
  EXPECT_EQ(describeDifferences({rank("bits=4", "A"), rank("bits=4", "B")}),
            "the program is A on rank 0; B on rank 1");
}

TEST(Agreement, NamesAFactThatOneRankLacks) {
  EXPECT_EQ(describeDifferences({{option("--eval", "x")}, {}}), "--eval is x on rank 0; not given on rank 1");
}

TEST(Agreement, ExplanationsDoNotCountAsDifferences) {
  Fact compress = option("--compress", "bits=4"), other = compress;
  compress.counted = other.counted = "";
  other.shown = "bits=5";
  EXPECT_EQ(digestOf({compress}), digestOf({other}));
  EXPECT_NE(digestOf({option("--steps", "5")}), digestOf({option("--steps", "6")}));
}

} // namespace
