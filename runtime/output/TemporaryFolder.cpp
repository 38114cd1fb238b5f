//===-- TemporaryFolder.cpp - A folder of this process alone ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/output/TemporaryFolder.h"

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace cgx {

std::string TemporaryFolder::parent() {
  const char *given = std::getenv("TMPDIR");
  return given && *given ? given : "/tmp";
}

TemporaryFolder::TemporaryFolder(const std::string &name) {
  std::string path = parent() + "/" + name + "-XXXXXX";
  if (!::mkdtemp(path.data()))
    throw std::runtime_error("cannot make a folder for temporary files in '" + parent() +
                             "' ($TMPDIR, else /tmp): " + formats::systemErrorText(errno));
  path_ = path;
  if (::chmod(path.c_str(), 0700) != 0) { // the umask may have excluded its owner, too
    const std::string why = formats::systemErrorText(errno);
    ::rmdir(path.c_str());
    throw std::runtime_error("cannot use the folder '" + path + "' for temporary files: " + why);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace cgx
