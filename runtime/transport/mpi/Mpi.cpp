//===-- transport/mpi/Mpi.cpp - Loads the library linked with an MPI -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/Mpi.h"

#include "library/OpenLibrary.h"
#include "transport/mpi/MpiLibrary.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace cgx {

/// Returns the names of the library, the best one first.
static std::vector<std::string> libraryNames() {
  std::vector<std::string> names = {"libcgx_mpi.so", "libcgx_mpi_mpich.so"};
  // Launchers of MPICH and its derivatives set PMI_RANK; that of Open MPI does not.
  if (std::getenv("PMI_RANK") && !std::getenv("OMPI_COMM_WORLD_RANK"))
    std::swap(names[0], names[1]);
  return names;
}

static Result<const MpiLibrary *> load() {
  const OpenedLibrary library = openLibrary("CGX_MPI_LIBRARY", libraryNames());
  if (!library.handle)
    return Status::error(
        CGX_UNSUPPORTED, "cannot load MPI: ", library.error,
        ": install the MPI that cgx was built with, name its library by CGX_MPI_LIBRARY=FILE, or "
        "take tcp in place of mpi");
  const auto *found = static_cast<const MpiLibrary *>(dlsym(library.handle, kMpiLibrarySymbol));
  if (!found || std::strcmp(found->version, CGX_RUNTIME_VERSION) != 0)
    return Status::error(CGX_UNSUPPORTED, "expected a library for MPI of cgx " CGX_RUNTIME_VERSION ", got ",
                         found ? concat("that of ", found->version)
                               : concat("one without ", kMpiLibrarySymbol));
  return found;
}

Result<std::unique_ptr<Transport>> connectMpi(const TransportConfig &config) {
  // The library stays loaded, since MPI may be started only once in a process.
  static Result<const MpiLibrary *> library = load();
  return library.ok() ? (*library)->connect(config) : library.status();
}

} // namespace cgx
