//===-- collective/PipelinedAllReduce.h - Piece by piece --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The all-reduce of AllReduce.h, with the same bits, piece by piece through memory that
// the transport lends: while a piece of this rank is on its way, one of a peer's is
// reduced, and none is copied but into the result. Every rank does whatever it can:
//
//   contribution  encode a piece into a slot  -> its owner
//   reduction     the owner sums the slots of all, and encodes the sum into a slot -> all
//   result        decode from the slot
//
// Results never wait for anything, reductions for results to be taken, contributions for
// reductions. All send the pieces in one order, so that the first one that anybody misses is
// on its way.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_PIPELINEDALLREDUCE_H
#define CGX_RUNTIME_COLLECTIVE_PIPELINEDALLREDUCE_H

#include "collective/Collective.h"

namespace cgx {

/// Returns whether the transport has slots for eager messages, and all operands can be cut into pieces that
/// fit them. All ranks come to the same answer.
bool canPipelineAllReduce(const Execution &execution);

/// Runs the all-reduce in a group of at least two.
Status runPipelinedAllReduce(Execution &execution, Buffers operands);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_PIPELINEDALLREDUCE_H
