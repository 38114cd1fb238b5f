//===-- TemporaryFolderTest.cpp - Private temporary folders -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/output/TemporaryFolder.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>

using namespace cgx;
namespace fs = std::filesystem;

namespace {

/// A scope with its own $TMPDIR.
class TemporaryFiles {
public:
  explicit TemporaryFiles(const std::string &folder) {
    if (const char *given = std::getenv("TMPDIR"))
      before = given;
    ::setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
  }
  ~TemporaryFiles() {
    if (before)
      ::setenv("TMPDIR", before->c_str(), /*overwrite=*/1);
    else
      ::unsetenv("TMPDIR");
  }

private:
  std::optional<std::string> before;
};

TEST(TemporaryFolder, IsForThisUserAloneAndGoesWithWhatIsInIt) {
  std::optional<TemporaryFolder> outer(std::in_place, "cgx-outer"), inner;
  TemporaryFiles there(outer->path().string());
  inner.emplace("cgx-inner");
  const fs::path path = inner->path();
  EXPECT_EQ(path.parent_path(), outer->path());
  EXPECT_TRUE(path.filename().string().starts_with("cgx-inner-"));
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, mode_t{0700});
  EXPECT_NE(TemporaryFolder("cgx-inner").path(), path);
  std::ofstream(path / "file") << "text";
  inner.reset();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_empty(outer->path()));
}

TEST(TemporaryFolder, WithoutAPlaceNamesWhereItLooked) {
  TemporaryFiles nowhere("/nonexistent/folder");
  try {
    TemporaryFolder folder("cgx-test");
    FAIL() << folder.path();
  } catch (const std::runtime_error &error) {
    EXPECT_EQ(std::string(error.what()), "cannot make a folder for temporary files in '/nonexistent/folder' "
                                         "($TMPDIR, else /tmp): No such file or directory");
  }
}

} // namespace
