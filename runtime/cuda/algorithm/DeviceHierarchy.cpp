//===-- DeviceHierarchy.cpp - Hierarchical all-reduces on GPUs ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceHierarchy.h"

#include "DeviceAllReduce.h"

namespace cgx {

static const DeviceScatterReduce kScatterReduce;
static const DeviceChunkGather kChunkGather;

bool DeviceHierarchy::takes(const Execution &execution) {
  const CollectiveInfo &collective = execution.collective;
  if (collective.kind != CollectiveKind::AllReduce ||
      !cgx_algorithm_has_hosts(collective.schedule.algorithm) || execution.group.size() == 1)
    return false;
  const HostStages stages(collective, execution.group);
  std::vector<OperandState> intraHost = HostStages::insideStates(execution.states);
  // For a rank alone on its host the first stage is a copy, which needs no kernels.
  return stages.ranksOfHost() > 1 && kScatterReduce.takes(stages.reduction(execution, intraHost)) &&
         (stages.hosts() == 1 || canBeResident(stages.between(execution)));
}

Result<std::unique_ptr<ResidentCollective>> DeviceHierarchy::make(const Execution &execution,
                                                                  cuda::Stream stream) {
  std::unique_ptr<DeviceHierarchy> made(
      new DeviceHierarchy(HostStages(execution.collective, execution.group)));
  std::vector<OperandState> intraHost = HostStages::insideStates(execution.states);
  Result<std::unique_ptr<ResidentCollective>> reduction =
      RoutedCollective::make(made->stages.reduction(execution, intraHost), stream, kScatterReduce);
  if (!reduction.ok())
    return reduction.status();
  made->reduction = std::move(*reduction);
  if (made->stages.hosts() > 1) {
    Result<std::unique_ptr<ResidentCollective>> interHost =
        makeResident(made->stages.between(execution), stream);
    if (!interHost.ok())
      return interHost.status();
    made->interHost = std::move(*interHost);
  }
  Result<std::unique_ptr<ResidentCollective>> gathering =
      RoutedCollective::make(made->stages.gathering(execution, intraHost), stream, kChunkGather);
  if (!gathering.ok())
    return gathering.status();
  made->gathering = std::move(*gathering);
  return std::unique_ptr<ResidentCollective>(std::move(made));
}

bool DeviceHierarchy::isCapturable() const {
  return reduction->isCapturable() && (!interHost || interHost->isCapturable()) && gathering->isCapturable();
}

Status DeviceHierarchy::put(Execution &execution, Buffers operands, cuda::Stream stream) {
  std::vector<OperandState> intraHost = HostStages::insideStates(execution.states);
  Execution first = stages.reduction(execution, intraHost);
  if (Status status = reduction->put(first, operands, stream); !status.ok())
    return status;
  if (interHost) {
    Execution second = stages.between(execution);
    if (Status status = interHost->put(second, stages.ownChunks(operands), stream); !status.ok())
      return status;
  }
  Execution third = stages.gathering(execution, intraHost);
  return gathering->put(third, operands, stream);
}

Status DeviceHierarchy::finish(Execution &execution) {
  std::vector<OperandState> intraHost = HostStages::insideStates(execution.states);
  Execution first = stages.reduction(execution, intraHost);
  Status status = reduction->finish(first);
  if (status.ok() && interHost) {
    Execution second = stages.between(execution);
    status = interHost->finish(second);
  }
  Execution third = stages.gathering(execution, intraHost);
  return status.ok() ? gathering->finish(third) : status;
}

Status DeviceHierarchy::check(const CollectiveInfo &collective, cuda::Stream stream) {
  for (ResidentCollective *stage : {reduction.get(), interHost.get(), gathering.get()})
    if (stage)
      if (Status status = stage->check(collective, stream); !status.ok())
        return status;
  return Status();
}

Status DeviceHierarchy::fetchState(cuda::Stream stream) {
  return interHost ? interHost->fetchState(stream) : Status();
}

} // namespace cgx
