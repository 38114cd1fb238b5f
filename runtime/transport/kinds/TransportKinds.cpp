//===-- TransportKinds.cpp - The transports by name -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/kinds/TransportKinds.h"

#include "transport/inproc/Inproc.h"
#include "transport/mpi/Mpi.h"
#include "transport/nccl/Nccl.h"
#include "transport/routed/IntraHost.h"
#include "transport/shm/Shm.h"
#include "transport/tcp/Tcp.h"

#include <array>

namespace cgx {

std::span<const TransportKind> transportKinds() {
  static constexpr std::array<TransportKind, 9> kinds = {{
      {"inproc", "ranks are threads of one process", connectInproc},
      {"shm", "ranks are processes of one host, over POSIX shared memory", connectShm},
      {"mpi", "ranks are processes of any hosts, started by mpirun", connectMpi},
      {"shm+mpi", "shared memory inside of hosts, MPI between them", connectShmMpi},
      {"tcp", "ranks are processes of any hosts, started by anything", connectTcp},
      {"shm+tcp", "shared memory inside of hosts, TCP between them", connectShmTcp},
      {"nccl", "ranks have GPUs, between which NCCL carries what lies on them", connectNccl},
      {"nccl+mpi", "NCCL between the GPUs of a host, MPI between hosts", connectNcclMpi},
      {"nccl+tcp", "NCCL between the GPUs of a host, TCP between hosts", connectNcclTcp},
  }};
  return kinds;
}

Result<std::unique_ptr<Transport>> connectTransport(const std::string &name, const TransportConfig &config) {
  if (config.ranks == 0)
    return Status::error(CGX_INVALID_ARGUMENT, "expected at least 1 rank, got 0");
  if (config.rank >= config.ranks)
    return Status::error(CGX_INVALID_ARGUMENT, "expected a rank below ", config.ranks, ", got ", config.rank);
  std::string known;
  for (const TransportKind &kind : transportKinds()) {
    if (name == kind.name)
      return kind.connect(config);
    known += concat(known.empty() ? "" : ", ", kind.name);
  }
  return Status::error(CGX_INVALID_ARGUMENT, "expected one of the transports ", known, ", got '", name, "'");
}

} // namespace cgx
