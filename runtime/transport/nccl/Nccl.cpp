//===-- transport/nccl/Nccl.cpp - Ranks that have GPUs ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/nccl/Nccl.h"

#include "NcclLink.h"
#include "cgx/kernels/cuda.h"
#include "transport/routed/InsideHosts.h"
#include "transport/routed/LocalRanks.h"
#include "transport/shm/Shm.h"

#include <cstdlib>
#include <numeric>

namespace cgx {

using Connected = Result<std::unique_ptr<Transport>>;

/// Where neither can be had, no rank joins the job.
static Status checkMachine() {
  if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
    return Status(CGX_UNSUPPORTED, outcome.error);
  return loadNccl().status();
}

/// Lets a transport that has come together carry NCCL between some of its ranks.
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

/// NCCL inside of each host of a transport that tells hosts apart.
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
