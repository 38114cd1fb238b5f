//===-- library/OpenLibrary.cpp - Libraries that are loaded on demand -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "library/OpenLibrary.h"

#include <cstdlib>
#include <dlfcn.h>

namespace cgx {

/// Returns the folder of the library, or the program, that contains this code; it ends with a slash, and may
/// be "".
static std::string folderOfThisCode() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void *>(&openLibrary), &found) == 0 || !found.dli_fname)
    return "";
  const std::string file = found.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

/// Returns the files to try, the best one first.
static std::vector<std::string> candidates(const char *variable, const std::vector<std::string> &names) {
  if (const char *given = std::getenv(variable); given && *given)
    return {given};
  const std::string beside = folderOfThisCode();
  std::vector<std::string> files;
  for (const std::string &name : names)
    files.insert(files.end(), {beside + name, name});
  return files;
}

OpenedLibrary openLibrary(const char *variable, const std::vector<std::string> &names) {
  std::string reasons;
  const std::vector<std::string> files = candidates(variable, names);
  for (const std::string &file : files) {
    if (void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {library, ""};
    const std::string error = dlerror();
    const bool isMissing =
        error.starts_with(file + ": cannot open") && error.ends_with("No such file or directory");
    if (!isMissing)
      reasons += (reasons.empty() ? "" : "; ") + error;
  }
  return {nullptr, reasons.empty() ? "no " + files.front() : reasons};
}

} // namespace cgx
