//===-- transport/nccl/Nccl.h - Transports with NCCL ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_NCCL_NCCL_H
#define CGX_RUNTIME_TRANSPORT_NCCL_NCCL_H

#include "transport/Transport.h"

namespace cgx {

/// Connects over NCCL for memory of GPUs and over shared memory for the rest, or shm+mpi under mpirun. A rank
/// uses the current GPU of the thread that joins, which no other rank may use. Returns CGX_UNSUPPORTED in a
/// build without NCCL, and without a GPU.
Result<std::unique_ptr<Transport>> connectNccl(const TransportConfig &config);

/// Connects over shm+mpi with NCCL between the GPUs of each host. Messages between GPUs of different hosts go
/// through pinned memory.
Result<std::unique_ptr<Transport>> connectNcclMpi(const TransportConfig &config);

/// Connects over shm+tcp with NCCL between the GPUs of each host, for ranks started by any launcher.
Result<std::unique_ptr<Transport>> connectNcclTcp(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_NCCL_NCCL_H
