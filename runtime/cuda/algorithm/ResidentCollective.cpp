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

/// Returns the table entry of a RoutedAlgorithm.
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
    routed<DeviceOneShot>(),
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
  // Message buffers, and payloads that are kept, lie on the host: collectives that send changes or decode
  // payloads again pass through it.
  const CollectiveInfo &info = execution.collective;
  const bool hasChanges = std::ranges::any_of(
      info.operands, [](const OperandInfo &operand) { return operand.changes.has_value(); });
  // Residuals of a permutation whose pairs differ from run to run lie there too, because each of its kernels
  // has its own copy.
  const bool hasResiduals =
      !info.pairsOfRuns.empty() && std::ranges::any_of(info.operands, [](const OperandInfo &operand) {
        return operand.errorFeedback.has_value();
      });
  return !hasChanges && !hasResiduals && !info.isDecodedAgain && !info.decodesAgain &&
         kindOf(execution) != nullptr;
}

Result<std::unique_ptr<ResidentCollective>> makeResident(const Execution &execution, cuda::Stream stream) {
  return kindOf(execution)->make(execution, stream);
}

} // namespace cgx
