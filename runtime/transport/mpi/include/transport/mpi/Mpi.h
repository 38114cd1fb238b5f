//===-- transport/mpi/Mpi.h - Ranks under mpirun -----------------*- C++ -*-===//
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

/// Joins the job as the rank of MPI_COMM_WORLD that this process is, which must be
/// the rank of the configuration. Loads MPI, and starts it when nobody has. CGX_UNSUPPORTED where it cannot
/// be loaded.
Result<std::unique_ptr<Transport>> connectMpi(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_MPI_H
