//===-- OutputFolder.cpp - Makes output folders -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/output/OutputFolder.h"

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

namespace fs = std::filesystem;

/// Makes one folder. Returns 0, or an errno.
static int make(const fs::path &folder, mode_t mode) {
  struct stat status = {};
  if (::mkdir(folder.c_str(), mode) != 0)
    return errno == EEXIST && ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? 0 : errno;
  if (::stat(folder.c_str(), &status) != 0)
    return errno;
  if ((status.st_mode & 0700) == 0700 || ::chmod(folder.c_str(), (status.st_mode & 07777) | 0700) == 0)
    return 0;
  return errno;
}

std::string cgx::makeOutputFolder(const std::string &path, FolderMode mode) {
  fs::path folder;
  for (const fs::path &piece : fs::path(path)) {
    folder /= piece;
    if (piece.empty() || piece == "/")
      continue;
    if (const int reason = make(folder, static_cast<mode_t>(mode)); reason != 0)
      return "cannot make folder '" + path + "': " + cgx::formats::systemErrorText(reason);
  }
  return "";
}
