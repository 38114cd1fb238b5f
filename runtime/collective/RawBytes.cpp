//===-- collective/RawBytes.cpp - What a collective sends uncompressed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/RawBytes.h"

#include <algorithm>

namespace cgx {

uint64_t rawBytes(const Execution &execution, const OperandInfo &operand) {
  const CollectiveInfo &collective = execution.collective;
  const uint64_t size = execution.group.size(), bytes = operand.elements * cgx_element_bytes(operand.type);
  const cgx_codec exact{};
  switch (collective.kind) {
  case CollectiveKind::AllReduce:
    return cgx_scheduled_wire_bytes(&collective.schedule, &exact, operand.type, operand.elements,
                                    uint32_t(size), execution.self());
  case CollectiveKind::AllGather:
    return (size - 1) * bytes;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    return (size - 1) * (bytes / size);
  case CollectiveKind::Broadcast:
    return execution.self() == collective.root ? (size - 1) * bytes : 0;
  case CollectiveKind::Permute: // names ranks
    return std::any_of(collective.pairs.begin(), collective.pairs.end(),
                       [&](const auto &pair) {
                         return pair.first == execution.self() && pair.second != execution.self();
                       })
               ? bytes
               : 0;
  }
  return 0;
}

void countRawBytes(Execution &execution) {
  for (size_t i = 0; i < execution.collective.operands.size(); ++i)
    execution.counters.operands[i].rawBytes += rawBytes(execution, execution.collective.operands[i]);
}

} // namespace cgx
