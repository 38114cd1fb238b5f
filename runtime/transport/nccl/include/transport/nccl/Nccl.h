//===-- transport/nccl/Nccl.h - Ranks that have GPUs ------------*- C++ -*-===//
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

/// What lies on GPUs goes over NCCL, everything else over shared memory; over shm+mpi under mpirun. A rank
/// uses the GPU that is its thread's when it joins, and no other rank's. CGX_UNSUPPORTED in a build without
/// NCCL, and without a GPU.
Result<std::unique_ptr<Transport>> connectNccl(const TransportConfig &config);

/// shm+mpi with NCCL between the GPUs of each host; what lies on GPUs of other hosts goes through pinned
/// memory.
Result<std::unique_ptr<Transport>> connectNcclMpi(const TransportConfig &config);

/// The same over shm+tcp: ranks that anything has started.
Result<std::unique_ptr<Transport>> connectNcclTcp(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_NCCL_NCCL_H
