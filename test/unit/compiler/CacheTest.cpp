//===-- CacheTest.cpp - Safety of the cache ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests who may own the files that are loaded. The rest is in test/integration/run/test_cache.py.
//
//===----------------------------------------------------------------------===//

#include "Cache.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace fs = std::filesystem;
using cgx::compile::Artifact;
using cgx::compile::Cache;

namespace {

class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cgx-cache-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    at(folder / "cache");
  }
  void TearDown() override { fs::remove_all(folder); }

  static void at(const fs::path &path) { ::setenv("CGX_CACHE_DIR", path.c_str(), /*overwrite=*/1); }

  static std::optional<Cache> open() {
    std::string error;
    std::optional<Cache> cache = Cache::open(error);
    EXPECT_EQ(error, "");
    return cache;
  }

  fs::path folder;
};

TEST_F(CacheTest, IsTheFolderThatWasLookedAtWhateverIsAtItsName) {
  const std::string key = Cache::getKey("a step", {});
  std::optional<Cache> ours = open();
  ASSERT_TRUE(ours);
  ours->store(key, {.files = {"ours"}, .manifest = "{}"});
  // The owner of a parent folder may do this between the check and the load.
  fs::rename(folder / "cache", folder / "elsewhere");
  std::optional<Cache> theirs = open();
  ASSERT_TRUE(theirs);
  theirs->store(key, {.files = {"theirs"}, .manifest = "{}"});
  const std::optional<Artifact> found = ours->find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files.front(), "ours");
  ours->store(key, {.files = {"ours, again"}, .manifest = "{}"});
  EXPECT_EQ(theirs->find(key)->files.front(), "theirs");
}

TEST_F(CacheTest, IsNotPutWhereTheProcessHappensToBe) {
  ::unsetenv("CGX_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", folder.c_str(), 1);
  ASSERT_TRUE(open());
  EXPECT_FALSE(fs::exists("relative"));
  EXPECT_TRUE(fs::exists(folder / ".cache" / "cgx" / "steps"));
}

} // namespace
