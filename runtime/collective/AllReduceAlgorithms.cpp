//===-- collective/AllReduceAlgorithms.cpp - All-reduces, by executor --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"

#include "collective/FactoredAllReduce.h"
#include "collective/RawBytes.h"

namespace cgx {

Status runAllReduceOfGroup(Execution &execution, Buffers operands) {
  if (execution.group.size() == 1) { // the sum of one is itself: nothing is encoded
    for (size_t i = 0; i < operands.size(); ++i)
      copyWhole(execution.collective.operands[i], operands[i]);
    return Status();
  }
  switch (cgx_executor(cgx_executor_of(execution.collective.schedule.algorithm))) {
  case CGX_EXECUTE_SCATTER:
    return runScatterReduceAllGather(execution, operands);
  case CGX_EXECUTE_STEPWISE:
    return runStepwiseAllReduce(execution, operands);
  case CGX_EXECUTE_HOSTS:
    return runHierarchicalAllReduce(execution, operands);
  case CGX_EXECUTE_COPIES:
    return runOneShotAllReduce(execution, operands);
  }
  return Status(CGX_INTERNAL, "unknown executor");
}

Status runAllReduce(Execution &execution, Buffers operands) {
  countRawBytes(execution);
  if (execution.group.size() > 1 && hasFactors(execution.collective))
    return runFactoredAllReduce(execution, operands);
  return runAllReduceOfGroup(execution, operands);
}

} // namespace cgx
