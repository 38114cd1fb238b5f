//===-- Siblings.cpp - The programs beside this one -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Siblings.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace cgx::front {

std::string findSibling(const std::string &program) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed)
    return "";
  const std::filesystem::path folder = self.parent_path();
  // The programs of a wheel lie beside it; those of the wheel with native execution lie in the package beside
  // its own.
  for (const std::string &path :
       {(folder / program).string(),
        (folder.parent_path().parent_path() / "cgx_native" / "bin" / program).string()})
    if (access(path.c_str(), X_OK) == 0)
      return path;
  return "";
}

int becomeSibling(const std::string &program, char **arguments) {
  const std::string path = findSibling(program);
  if (path.empty()) {
    std::fprintf(stderr,
                 "cgx: error: %s is not beside this program: it is in the package 'cgx', of a build with "
                 "CGX_BUILD_COMPILER=ON and CGX_BUILD_NATIVE=ON, or of `pip install cgx[native]`\n",
                 program.c_str());
    return 127;
  }
  std::string name = program;
  arguments[0] = name.data();
  execv(path.c_str(), arguments);
  std::fprintf(stderr, "cgx: error: cannot run '%s': %s\n", path.c_str(), std::strerror(errno));
  return 127;
}

} // namespace cgx::front
