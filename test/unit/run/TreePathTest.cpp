//===-- TreePathTest.cpp - Names of tree leaves -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/TreePath.h"
#include "cgx/run/Error.h"

#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

TEST(TreePath, KeysAreJoinedBySlashes) {
  TreePath path("state['params'][0].w");
  EXPECT_EQ(path.full(), "state/params/0/w");
  EXPECT_EQ(path.brief(), "params/0/w");
  EXPECT_EQ(path.leaf(), "w");
}

TEST(TreePath, QuotedKeysMayHoldDotsAndSlashes) {
  EXPECT_EQ(TreePath("s['a.b']['c/d']").brief(), "a.b/c/d");
  EXPECT_EQ(TreePath("s[\"it's\"]").leaf(), "it's");
}

TEST(TreePath, NamesWithoutKeysAreTheirOwnLeaf) {
  EXPECT_EQ(TreePath("arg3").leaf(), "arg3");
  EXPECT_EQ(TreePath("").leaf(), "");
  EXPECT_EQ(TreePath("[]").leaf(), "[]");
}

TEST(TreePath, PeopleMayTypeAnyUnambiguousForm) {
  std::vector<TreePath> paths;
  for (const char *name : {"state['params']['w']", "state['momentum']['w']", "batch['x']"})
    paths.emplace_back(name);
  EXPECT_EQ(findPath(paths, "state['momentum']['w']", "argument"), 1u);
  EXPECT_EQ(findPath(paths, "params/w", "argument"), 0u);
  EXPECT_EQ(findPath(paths, "x", "argument"), 2u);
  EXPECT_THROW(findPath(paths, "w", "argument"), Error);
  EXPECT_THROW(findPath(paths, "y", "argument"), Error);
}

} // namespace
