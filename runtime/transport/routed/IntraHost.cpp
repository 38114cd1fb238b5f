//===-- routed/IntraHost.cpp - Shared memory inside hosts -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/routed/IntraHost.h"

#include "RoutedTransport.h"
#include "transport/mpi/Mpi.h"
#include "transport/routed/LocalRanks.h"
#include "transport/shm/Shm.h"
#include "transport/tcp/Tcp.h"

namespace cgx {

/// Lets the ranks of one host communicate over shared memory, and those of different hosts over the connected
/// transport; all ranks call. `name` begins the names of the segments.
static Result<std::unique_ptr<Transport>> withSharedMemory(Result<std::unique_ptr<Transport>> outer,
                                                           const TransportConfig &config, const char *name) {
  if (!outer.ok())
    return outer.status();
  Result<LocalRanks> local = findLocalRanks(**outer, config.timeout);
  if (!local.ok())
    return local.status();
  TransportConfig intraHost = config;
  intraHost.job = concat(name, "-", local->nonce);
  intraHost.names = local->ranks;
  intraHost.ranks = uint32_t(local->ranks.size());
  intraHost.joinedBefore = outer->get();
  intraHost.timeout +=
      config.timeout / 2; // a rank that waits over the outer transport knows more, and must report first
  for (uint32_t i = 0; i < intraHost.ranks; ++i)
    if (local->ranks[i] == config.rank)
      intraHost.rank = i;
  Result<std::unique_ptr<Transport>> inner = connectShm(intraHost);
  if (!inner.ok()) {
    (*outer)->fail(inner.status());
    return inner.status();
  }
  return std::unique_ptr<Transport>(
      std::make_unique<RoutedTransport>(std::move(*outer), std::move(*inner), std::move(local->ranks)));
}

Result<std::unique_ptr<Transport>> connectShmMpi(const TransportConfig &config) {
  return withSharedMemory(connectMpi(config), config, "mpi");
}

Result<std::unique_ptr<Transport>> connectShmTcp(const TransportConfig &config) {
  return withSharedMemory(connectTcp(config), config, "tcp");
}

} // namespace cgx
