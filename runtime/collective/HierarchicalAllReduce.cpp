//===-- collective/HierarchicalAllReduce.cpp - Inside of hosts, then between --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made of what is there; HostStages.h says which stages.
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"
#include "collective/AllReduce.h"
#include "collective/HostStages.h"

namespace cgx {

Status runHierarchicalAllReduce(Execution &execution, Buffers operands) {
  const HostStages stages(execution.collective, execution.group);
  std::vector<OperandState> inside = HostStages::insideStates(execution.states);
  Execution reduction = stages.reduction(execution, inside);
  if (Status status = runScatterReduce(reduction, operands); !status.ok())
    return status;
  Execution between = stages.between(execution);
  if (Status status = runAllReduceOfGroup(between, stages.ownChunks(operands)); !status.ok())
    return status;
  Execution gathering = stages.gathering(execution, inside);
  return runChunkGather(gathering, operands);
}

} // namespace cgx
