//===-- PayloadRoute.cpp - The way of payloads from GPU to GPU ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/route/PayloadRoute.h"

#include "cuda/route/MessageRoute.h"
#include "cuda/route/PeerRoute.h"

#include <algorithm>

namespace cgx {

Result<std::unique_ptr<PayloadRoute>> makeRoute(const Execution &execution, const DeviceSchedule &schedule) {
  const std::vector<uint32_t> &ranks = execution.group.ranks;
  const DeviceLink *link = execution.transport.deviceLink();
  if (!link || !std::all_of(ranks.begin(), ranks.end(), [&](uint32_t rank) { return link->reaches(rank); })) {
    Result<std::unique_ptr<PayloadRoute>> route = PeerRoute::make(execution, schedule);
    if (!route.ok() || *route)
      return route;
  }
  return MessageRoute::make(execution, schedule);
}

} // namespace cgx
