//===-- LibraryCollective.cpp - Uncompressed collectives of NCCL ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/algorithm/LibraryCollective.h"

#include "cgx/kernels/cuda_memory.h"
#include "collective/RawBytes.h"
#include "cuda/stream/DeviceStatus.h"

#include <algorithm>
#include <optional>

namespace cgx {

using Kind = DeviceCollective::Kind;
using LinkReduction = DeviceCollective::Reduction;

static std::optional<Kind> kindOf(const CollectiveInfo &collective) {
  switch (collective.kind) {
  case CollectiveKind::AllReduce:
    return Kind::AllReduce;
  case CollectiveKind::AllGather: // along other dimensions, parts are not contiguous
    return collective.dim == 0 ? std::optional(Kind::AllGather) : std::nullopt;
  case CollectiveKind::ReduceScatter:
    return collective.dim == 0 ? std::optional(Kind::ReduceScatter) : std::nullopt;
  case CollectiveKind::Broadcast:
    return Kind::Broadcast;
  default:
    return std::nullopt;
  }
}

static LinkReduction reductionOf(ReduceKind reduction) {
  switch (reduction) {
  case ReduceKind::Sum:
    return LinkReduction::Sum;
  case ReduceKind::Mean:
    return LinkReduction::Mean;
  case ReduceKind::Max:
    return LinkReduction::Max;
  case ReduceKind::Min:
    return LinkReduction::Min;
  case ReduceKind::Product:
    return LinkReduction::Product;
  }
  return LinkReduction::Sum;
}

static std::vector<DeviceCollective> collectivesOf(const Execution &execution, Kind kind, Buffers operands) {
  const CollectiveInfo &info = execution.collective;
  std::vector<DeviceCollective> collectives;
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = info.operands[i];
    collectives.push_back({.kind = kind,
                           .reduction = reductionOf(info.reduction),
                           .type = operand.type,
                           .elements = kind == Kind::ReduceScatter ? operand.elements / execution.group.size()
                                                                   : operand.elements,
                           .root = info.root,
                           .input = operands[i].input,
                           .output = operands[i].output});
  }
  return collectives;
}

bool isLinked(const Execution &execution, Buffers operands) {
  const DeviceLink *link = execution.transport.deviceLink();
  const std::optional<Kind> kind = kindOf(execution.collective);
  const DeviceLink::Groups &groups = execution.collective.groups;
  // Even if this rank is alone in its group, others may need it to form theirs. A gather whose payloads are
  // decoded again needs payloads.
  if (!link || !kind || execution.collective.decodesAgain || execution.collective.isDecodedAgain ||
      std::all_of(groups.begin(), groups.end(), [](const auto &row) { return row.size() < 2; }))
    return false;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!execution.collective.operands[i].isUncompressed() ||
        cuda::memoryKindOf(operands[i].input) != cuda::MemoryKind::device ||
        cuda::memoryKindOf(operands[i].output) != cuda::MemoryKind::device)
      return false;
  return link->takes(groups, collectivesOf(execution, *kind, operands));
}

/// Returns true if this rank is in a group; otherwise the result is the operand.
static bool isInGroup(const Execution &execution) {
  return std::any_of(execution.collective.groups.begin(), execution.collective.groups.end(),
                     [&](const auto &row) {
                       return std::find(row.begin(), row.end(), execution.transport.rank()) != row.end();
                     });
}

Status putLinked(Execution &execution, Buffers operands, cuda::Stream stream) {
  Stopwatch stopwatch(execution.counters.exchange);
  countRawBytes(execution);
  for (size_t i = 0; i < operands.size(); ++i)
    execution.counters.operands[i].wireBytes += rawBytes(execution, execution.collective.operands[i]);
  const std::vector<DeviceCollective> collectives =
      collectivesOf(execution, *kindOf(execution.collective), operands);
  if (!isInGroup(execution))
    for (const DeviceCollective &alone : collectives)
      if (Status status = statusOf(
              cuda::copy(alone.output, alone.input, alone.elements * cgx_element_bytes(alone.type), stream));
          !status.ok())
        return status;
  return execution.transport.deviceLink()->run(execution.collective.groups, collectives, stream);
}

} // namespace cgx
