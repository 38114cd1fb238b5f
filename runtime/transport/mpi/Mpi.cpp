//===-- transport/mpi/Mpi.cpp - Load what is linked with an MPI --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/Mpi.h"

#include "transport/mpi/MpiLibrary.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace cgx {

/// The library that this code is in, or the program; its folder ends with a slash, and may be "".
static std::string folderOfThisCode() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void *>(&connectMpi), &found) == 0 || !found.dli_fname)
    return "";
  const std::string file = found.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

/// The library that CGX_MPI_LIBRARY names, or the one beside this code, or that of the system's path; null,
/// and `reason` says why the last one that was tried is none.
static void *open(std::string &reason) {
  const char *given = std::getenv("CGX_MPI_LIBRARY");
  const std::string named = given ? given : "", beside = folderOfThisCode() + kMpiLibraryFile;
  for (const std::string &file :
       named.empty() ? std::vector{beside, std::string(kMpiLibraryFile)} : std::vector{named}) {
    if (void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    // Of a file that is there, what it lacks says more than that there is no other one.
    if (const char *error = dlerror(); reason.empty() || !std::strstr(error, kMpiLibraryFile))
      reason = error;
  }
  return nullptr;
}

static Result<const MpiLibrary *> load() {
  std::string reason;
  void *library = open(reason);
  if (!library)
    return Status::error(
        CGX_UNSUPPORTED, "cannot load MPI: ", reason, ": install the MPI that ", kMpiLibraryFile,
        " was built with, name another one by CGX_MPI_LIBRARY=FILE, or take tcp in place of mpi");
  const auto *found = static_cast<const MpiLibrary *>(dlsym(library, kMpiLibrarySymbol));
  if (!found || std::strcmp(found->version, CGX_RUNTIME_VERSION) != 0)
    return Status::error(
        CGX_UNSUPPORTED, "expected ", kMpiLibraryFile, " of cgx " CGX_RUNTIME_VERSION ", got ",
        found ? concat("that of ", found->version) : concat("a library without ", kMpiLibrarySymbol));
  return found;
}

Result<std::unique_ptr<Transport>> connectMpi(const TransportConfig &config) {
  // It stays, since MPI may be started once in a process.
  static Result<const MpiLibrary *> library = load();
  return library.ok() ? (*library)->connect(config) : library.status();
}

} // namespace cgx
