//===-- collective/FactoredAllReduce.h - Sums of factors ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An all-reduce of matrices by lowrank (PowerSGD: one power iteration a step, which begins
// where the last step's ended). Rank k has M_k, all ranks have Q:
//
//   P_k = M_k Q            P = all-reduce(P_k), exactly       orthonormalize P
//   Q_k = transpose(M_k) P Q = all-reduce(Q_k), exactly       result = P transpose(Q)
//
// Every rank computes the result from P and Q, in an order that is fixed: equal bits on all.
// The next step begins with the orthonormalized Q; vectors that vanished are drawn anew.
//
// With error feedback M_k is the operand and what was lost before, and lost now is
// M_k - P transpose(Q_k): what of this rank's own matrix is not in the span that was sent,
// before it is mixed with the others' (Algorithm 2 of the PowerSGD paper).
//
// A number that is not finite anywhere makes P so: then all of the result is no number on all
// ranks, and what they remember stays as it was.
//
// The factors of all operands travel in two all-reduces by whatever algorithm others travel
// by; operands of other codecs travel with the first.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_FACTOREDALLREDUCE_H
#define CGX_RUNTIME_COLLECTIVE_FACTOREDALLREDUCE_H

#include "collective/Collective.h"

namespace cgx {

/// Returns whether an operand is sent as factors.
bool hasFactors(const CollectiveInfo &collective);

/// The operands that are sent in place of matrices: the first of two all-reduces has their left factors and
/// operands of other codecs, by the second their right factors. Operands keep their numbers, and with them
/// their states and counters.
struct FactorCollectives {
  explicit FactorCollectives(const CollectiveInfo &collective);

  CollectiveInfo left, right;
};

/// One of these in place of the collective of an execution.
Execution inPlaceOf(const Execution &execution, const CollectiveInfo &collective);

/// In a group of at least two.
Status runFactoredAllReduce(Execution &execution, Buffers operands);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_FACTOREDALLREDUCE_H
