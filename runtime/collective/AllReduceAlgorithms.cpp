//===-- collective/AllReduceAlgorithms.cpp - All-reduces, by name --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllReduceAlgorithms.h"

#include "collective/FactoredAllReduce.h"
#include "collective/RawBytes.h"

#include <array>

namespace cgx {

namespace {

struct Algorithm {
  cgx_algorithm id;
  Status (*run)(Execution &, Buffers);
};

constexpr std::array<Algorithm, CGX_ALGORITHM_COUNT> kAlgorithms = {{
    {CGX_ALGORITHM_AUTO, runScatterReduceAllGather},
    {CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER, runScatterReduceAllGather},
    {CGX_ALGORITHM_RING, runRingAllReduce},
    {CGX_ALGORITHM_TREE, runTreeAllReduce},
    {CGX_ALGORITHM_HIERARCHICAL, runHierarchicalAllReduce},
    {CGX_ALGORITHM_ONE_SHOT, runOneShotAllReduce},
}};

} // namespace

Status runAllReduceOfGroup(Execution &execution, Buffers operands) {
  if (execution.group.size() == 1) { // the sum of one is itself: nothing is encoded
    for (size_t i = 0; i < operands.size(); ++i)
      copyWhole(execution.collective.operands[i], operands[i]);
    return Status();
  }
  for (const Algorithm &algorithm : kAlgorithms)
    if (algorithm.id == execution.collective.schedule.algorithm)
      return algorithm.run(execution, operands);
  return Status(CGX_INTERNAL, "unknown algorithm");
}

Status runAllReduce(Execution &execution, Buffers operands) {
  countRawBytes(execution);
  if (execution.group.size() > 1 && hasFactors(execution.collective))
    return runFactoredAllReduce(execution, operands);
  return runAllReduceOfGroup(execution, operands);
}

} // namespace cgx
