//===-- transport/mpi/linked/MpiLibrary.cpp - The exports of libcgx_mpi.so -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/MpiLibrary.h"

#include "transport/mpi/linked/MpiTransport.h"

#include <algorithm>
#include <mpi.h>
#include <string>

extern "C" {

[[gnu::visibility("default")]] extern const cgx::MpiLibrary cgx_mpi_library;
const cgx::MpiLibrary cgx_mpi_library = {CGX_RUNTIME_VERSION, cgx::joinMpiWorld};

/// Returns the version of the loaded MPI, such as "Open MPI v4.1.4", for `cgx doctor`. MPI need not be
/// started.
[[gnu::visibility("default")]] const char *cgx_mpi_description() {
  static const std::string description = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string version(text, size_t(length));
    std::ranges::replace(version, '\t', ' '); // MPICH's text has tabs
    return version.substr(0, version.find_first_of(",\n"));
  }();
  return description.c_str();
}
}
