//===-- collective/OneExchange.h - Encode, exchange, decode ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_ONEEXCHANGE_H
#define CGX_RUNTIME_COLLECTIVE_ONEEXCHANGE_H

#include "collective/RawBytes.h"

namespace cgx {

/// Runs a collective that needs one exchange. `Running` is one operand on its way: it
/// is made of (execution, index, buffers), encodes in traffic(), and decodes in finish().
template <typename Running> Status runInOneExchange(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  if (execution.group.size() == 1 && execution.collective.kind != CollectiveKind::Permute) {
    for (size_t i = 0; i < operands.size(); ++i)
      copyWhole(execution.collective.operands[i], operands[i]);
    return Status();
  }
  std::vector<Running> running;
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(counters.encode);
    running.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      running.emplace_back(execution, i, operands[i]);
      traffic.push_back(running[i].traffic());
    }
    countRawBytes(execution);
  }
  if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
    return status;
  Stopwatch stopwatch(counters.decode);
  for (Running &operand : running)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_ONEEXCHANGE_H
