//===-- MostTellingTest.cpp - Choosing one of several reasons ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/MostTelling.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace cgx::test {
namespace {

TEST(MostTelling, TheOrderOfReasonsDoesNotMatter) {
  struct Heard {
    Telling how;
    std::string words;
  };
  const std::vector<Heard> all = {
      {Telling::Nothing, "0"}, {Telling::Refusal, "1"}, {Telling::Silence, "2"}, {Telling::Answer, "3"}};
  for (size_t count = 1; count <= all.size(); ++count) {
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i)
      order[i] = i;
    do {
      MostTelling kept("before any");
      for (size_t i : order)
        kept.hear(all[i].how, all[i].words);
      EXPECT_EQ(kept.words(), all[count - 1].words);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(MostTelling, OfThoseThatTellAsMuchTheLatestIsKept) {
  MostTelling kept("before any");
  EXPECT_EQ(kept.words(), "before any");
  kept.hear(Telling::Silence, "first");
  kept.hear(Telling::Silence, "second");
  kept.hear(Telling::Refusal, "third");
  EXPECT_EQ(kept.words(), "second");
}

} // namespace
} // namespace cgx::test
