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
#include <vector>

namespace cgx {

/// The library that this code is in, or the program; its folder ends with a slash, and may be "".
static std::string folderOfThisCode() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void *>(&connectMpi), &found) == 0 || !found.dli_fname)
    return "";
  const std::string file = found.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

/// Files of the library, the best one first.
static std::vector<std::string> candidates() {
  if (const char *given = std::getenv("CGX_MPI_LIBRARY"); given && *given)
    return {given};
  std::vector<std::string> names = {"libcgx_mpi.so", "libcgx_mpi_mpich.so"};
  // As the launchers of MPICH and its kin say, and that of Open MPI does not.
  if (std::getenv("PMI_RANK") && !std::getenv("OMPI_COMM_WORLD_RANK"))
    std::swap(names[0], names[1]);
  const std::string beside = folderOfThisCode();
  std::vector<std::string> files;
  for (const std::string &name : names)
    files.insert(files.end(), {beside + name, name});
  return files;
}

/// Null if there is none, and `reasons` says why each was refused that is there.
static void *open(std::string &reasons) {
  for (const std::string &file : candidates()) {
    if (void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    const std::string error = dlerror();
    const bool isMissing =
        error.starts_with(file + ": cannot open") && error.ends_with("No such file or directory");
    if (!isMissing)
      reasons += concat(reasons.empty() ? "" : "; ", error);
  }
  return nullptr;
}

static Result<const MpiLibrary *> load() {
  std::string reasons;
  void *library = open(reasons);
  if (!library)
    return Status::error(
        CGX_UNSUPPORTED, "cannot load MPI: ", reasons.empty() ? concat("no ", candidates().front()) : reasons,
        ": install the MPI that cgx was built with, name its library by CGX_MPI_LIBRARY=FILE, or "
        "take tcp in place of mpi");
  const auto *found = static_cast<const MpiLibrary *>(dlsym(library, kMpiLibrarySymbol));
  if (!found || std::strcmp(found->version, CGX_RUNTIME_VERSION) != 0)
    return Status::error(CGX_UNSUPPORTED, "expected a library for MPI of cgx " CGX_RUNTIME_VERSION ", got ",
                         found ? concat("that of ", found->version)
                               : concat("one without ", kMpiLibrarySymbol));
  return found;
}

Result<std::unique_ptr<Transport>> connectMpi(const TransportConfig &config) {
  // It stays, since MPI may be started once in a process.
  static Result<const MpiLibrary *> library = load();
  return library.ok() ? (*library)->connect(config) : library.status();
}

} // namespace cgx
