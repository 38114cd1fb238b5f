//===-- transport/mpi/MpiLibrary.h - The interface of a library linked with MPI -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI libraries have no common ABI, so the code that calls one is a library of its own, libcgx_mpi.so, which
// is built once for each MPI and loaded when a job asks for it. It must be of the same version of cgx as the
// runtime.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_MPILIBRARY_H
#define CGX_RUNTIME_TRANSPORT_MPI_MPILIBRARY_H

#include "transport/Transport.h"

namespace cgx {

/// The table that such a library exports under the name cgx_mpi_library.
struct MpiLibrary {
  const char *version; ///< version of cgx
  Result<std::unique_ptr<Transport>> (*connect)(const TransportConfig &);
};

constexpr const char *kMpiLibrarySymbol = "cgx_mpi_library";

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_MPILIBRARY_H
