//===-- transport/mpi/Mpi.h - Loads the library linked with an MPI -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_MPI_H
#define CGX_RUNTIME_TRANSPORT_MPI_MPI_H

#include "transport/Transport.h"

namespace cgx {

/// Joins the job as this process's rank of MPI_COMM_WORLD, which must be the rank of the configuration. Loads
/// MPI, and starts it unless the program has. Returns CGX_UNSUPPORTED if it cannot be loaded.
Result<std::unique_ptr<Transport>> connectMpi(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_MPI_H
