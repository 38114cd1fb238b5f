//===-- ResidentCollective.cpp - A collective that stays on the GPU -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/algorithm/ResidentCollective.h"

#include "DeviceAllReduce.h"
#include "DeviceFactors.h"
#include "DeviceHierarchy.h"
#include "DeviceSlices.h"
#include "DeviceStepwise.h"

#include <algorithm>
#include <array>

namespace cgx {

namespace {

struct Kind {
  bool (*takes)(const Execution &);
  Result<std::unique_ptr<ResidentCollective>> (*make)(const Execution &, cuda::Stream);
};

template <typename Algorithm> const Algorithm kAlgorithm;

/// Of a RoutedAlgorithm.
template <typename Algorithm> Kind routed() {
  return {[](const Execution &execution) { return kAlgorithm<Algorithm>.takes(execution); },
          [](const Execution &execution, cuda::Stream stream) {
            return RoutedCollective::make(execution, stream, kAlgorithm<Algorithm>);
          }};
}

const std::array kKinds = {
    Kind{DeviceFactors::takes, DeviceFactors::make},
    Kind{DeviceHierarchy::takes, DeviceHierarchy::make},
    routed<DeviceAllReduce>(),
    routed<DeviceStepwise>(),
    routed<DeviceAllGather>(),
    routed<DeviceReduceScatter>(),
    routed<DeviceAllToAll>(),
    routed<DeviceBroadcast>(),
    routed<DevicePermute>(),
};

const Kind *kindOf(const Execution &execution) {
  const auto *kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind &each) { return each.takes(execution); });
  return kind == kKinds.end() ? nullptr : kind;
}

} // namespace

bool canBeResident(const Execution &execution) {
  // Messages of samples lie on the host: what changes passes through it.
  const std::vector<OperandInfo> &operands = execution.collective.operands;
  return std::none_of(operands.begin(), operands.end(),
                      [](const OperandInfo &operand) { return operand.changes.has_value(); }) &&
         kindOf(execution) != nullptr;
}

Result<std::unique_ptr<ResidentCollective>> makeResident(const Execution &execution, cuda::Stream stream) {
  return kindOf(execution)->make(execution, stream);
}

} // namespace cgx
