//===-- collective/AllReduceAlgorithms.h - All-reduces, by executor --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_ALLREDUCEALGORITHMS_H
#define CGX_RUNTIME_COLLECTIVE_ALLREDUCEALGORITHMS_H

#include "collective/Collective.h"

namespace cgx {

// The executors of cgx/algorithm_table.h, all in a group of at least two. `input` and `output` of an operand
// may be the same.
Status runScatterReduceAllGather(Execution &execution, Buffers operands);
Status runStepwiseAllReduce(Execution &execution, Buffers operands);
Status runHierarchicalAllReduce(Execution &execution, Buffers operands);
Status runOneShotAllReduce(Execution &execution, Buffers operands);

/// Runs the algorithm of the collective, or copies in a group of one.
Status runAllReduceOfGroup(Execution &execution, Buffers operands);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_ALLREDUCEALGORITHMS_H
