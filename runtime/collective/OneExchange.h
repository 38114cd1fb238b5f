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

/// Runs a collective that needs one exchange. `OperandTask` is one operand on its way: it
/// is made of (execution, index, buffers), encodes in traffic(), and decodes in finish().
template <typename OperandTask> Status runInOneExchange(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  if (execution.group.size() == 1 && execution.collective.kind != CollectiveKind::Permute) {
    for (size_t i = 0; i < operands.size(); ++i)
      copyWhole(execution.collective.operands[i], operands[i]);
    return Status();
  }
  std::vector<OperandTask> tasks;
  std::vector<Traffic> traffic;
  {
    Stopwatch stopwatch(counters.encode);
    tasks.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      tasks.emplace_back(execution, i, operands[i]);
      traffic.push_back(tasks[i].traffic());
    }
    countRawBytes(execution);
  }
  if (Status status = exchange(execution, traffic, kContribution, kAllOperands); !status.ok())
    return status;
  Stopwatch stopwatch(counters.decode);
  for (OperandTask &operand : tasks)
    if (Status status = operand.finish(); !status.ok())
      return status;
  return Status();
}

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_ONEEXCHANGE_H
