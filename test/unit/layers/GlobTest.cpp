//===-- GlobTest.cpp - Patterns of names ----------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Glob.h"

#include <gtest/gtest.h>

namespace cgx::layers {
namespace {

bool matches(const char *pattern, const char *name) {
  std::string reason;
  const std::optional<Glob> glob = Glob::parse(pattern, reason);
  EXPECT_TRUE(glob) << pattern << ": " << reason;
  return glob && glob->matches(name);
}

std::string refusalOf(const std::string &pattern) {
  std::string reason;
  return Glob::parse(pattern, reason) ? "" : reason;
}

TEST(Glob, MatchesWholeNamesAndCrossesSlashes) {
  EXPECT_TRUE(matches("*embed*", "model/embed/w"));
  EXPECT_TRUE(matches("model/*/w", "model/a/b/w"));
  EXPECT_TRUE(matches("l?", "l1"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("embed", "model/embed"));
  EXPECT_FALSE(matches("l?", "l"));
  EXPECT_FALSE(matches("a*b", "a-b-c"));
}

TEST(Glob, TakesClassesAlternativesAndEscapes) {
  EXPECT_TRUE(matches("l[0-35]", "l2"));
  EXPECT_TRUE(matches("l[0-35]", "l5"));
  EXPECT_FALSE(matches("l[0-35]", "l4"));
  EXPECT_TRUE(matches("l[^0-3]", "l4"));
  EXPECT_FALSE(matches("l[!0-3]", "l1"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_TRUE(matches("{fc,conv}{1,2}.*", "conv2.w"));
  EXPECT_FALSE(matches("{fc,conv}{1,2}.*", "conv3.w"));
  EXPECT_TRUE(matches("a\\*", "a*"));
  EXPECT_FALSE(matches("a\\*", "ab"));
}

TEST(Glob, SaysWhyATextIsNoPattern) {
  EXPECT_EQ(refusalOf("[a"), "invalid glob pattern, unmatched '['");
  EXPECT_EQ(refusalOf("[z-a]"), "invalid glob pattern: [z-a]");
  EXPECT_EQ(refusalOf("a\\"), "invalid glob pattern, stray '\\'");
  EXPECT_EQ(refusalOf("{a,{b,c}}"), "nested brace expansions are not supported");
  EXPECT_EQ(refusalOf("{a}"), "empty or singleton brace expansions are not supported");
  EXPECT_EQ(refusalOf("{a,b"), "incomplete brace expansion");
  std::string many;
  for (int i = 0; i < 11; ++i)
    many += "{a,b}";
  EXPECT_EQ(refusalOf(many), "too many brace expansions");
}

// A matcher that tries all alternatives takes exponential time on a name that almost matches.
TEST(Glob, TakesNoLongerThanNameTimesPattern) {
  std::string pattern, name(20000, 'a');
  for (int i = 0; i < 200; ++i)
    pattern += "a*";
  EXPECT_FALSE(matches((pattern + "b").c_str(), name.c_str()));
}

} // namespace
} // namespace cgx::layers
