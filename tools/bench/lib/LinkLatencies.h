//===-- LinkLatencies.h - Cost of a message, from collectives ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In an all-reduce that is too short to keep a link busy, only messages take time. With a tree no
// rank sends to two at once, and with scatter-reduce-allgather every rank sends to all. These two
// times determine the two unknowns.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_LINKLATENCIES_H
#define CGX_BENCH_LINKLATENCIES_H

#include "cgx/cost.h"

namespace cgx::bench {

/// Returns the latency of a message with which the model of cgx/cost.h gives `treeSeconds` for a short
/// all-reduce by a tree among `ranks`. It is always more than 0.
double fitLatency(uint32_t ranks, double treeSeconds);

/// Returns the cost of each further concurrent message with which the model gives `scatterSeconds` for
/// scatter-reduce-allgather among 3 or more `ranks`. It is at least a hundredth of the latency.
double fitFurtherMessage(uint32_t ranks, double latencySeconds, double scatterSeconds);

} // namespace cgx::bench

#endif // CGX_BENCH_LINKLATENCIES_H
