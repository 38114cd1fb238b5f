//===-- transport/nccl/Nccl.cpp - Transports with NCCL ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/nccl/Nccl.h"

#include "NcclLink.h"
#include "cgx/kernels/cuda.h"
#include "transport/routed/IntraHost.h"
#include "transport/routed/LocalRanks.h"
#include "transport/shm/Shm.h"

#include <cstdlib>
#include <numeric>

namespace cgx {

using Connected = Result<std::unique_ptr<Transport>>;

/// Returns an error if CUDA or NCCL is missing; then no rank joins the job.
static Status checkMachine() {
  if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
    return Status(CGX_UNSUPPORTED, outcome.error);
  return loadNccl().status();
}

/// Gives a connected transport an NCCL link between some of its ranks.
static Connected withNccl(Connected host, std::vector<uint32_t> members, std::chrono::milliseconds timeout) {
  Result<std::unique_ptr<DeviceLink>> link =
      NcclLink::connect(**loadNccl(), **host, std::move(members), timeout);
  if (!link.ok()) {
    (*host)->fail(link.status());
    return link.status();
  }
  (*host)->carryDeviceLink(std::move(*link));
  return host;
}

Connected connectNccl(const TransportConfig &config) {
  if (Status status = checkMachine(); !status.ok())
    return status;
  const bool underMpi = std::getenv("OMPI_COMM_WORLD_RANK");
  Connected host = underMpi ? connectShmMpi(config) : connectShm(config);
  if (!host.ok())
    return host;
  std::vector<uint32_t> everybody((*host)->ranks());
  std::iota(everybody.begin(), everybody.end(), 0u);
  return withNccl(std::move(host), std::move(everybody), config.timeout);
}

/// Connects a transport that knows its hosts, with NCCL inside each host.
static Connected withNcclInHosts(Connected (*connectHosts)(const TransportConfig &),
                                 const TransportConfig &config) {
  if (Status status = checkMachine(); !status.ok())
    return status;
  Connected host = connectHosts(config);
  if (!host.ok())
    return host;
  Result<LocalRanks> local = findLocalRanks(**host, config.timeout);
  if (!local.ok())
    return local.status();
  return withNccl(std::move(host), std::move(local->ranks), config.timeout);
}

Connected connectNcclMpi(const TransportConfig &config) { return withNcclInHosts(connectShmMpi, config); }

Connected connectNcclTcp(const TransportConfig &config) { return withNcclInHosts(connectShmTcp, config); }

} // namespace cgx
