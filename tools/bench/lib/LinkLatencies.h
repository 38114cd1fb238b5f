//===-- LinkLatencies.h - What a message costs, from collectives -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of an all-reduce that is too short to keep a link busy, messages are all that takes time. By a tree nobody
// sends to two at once, and by scatter-reduce-allgather everybody sends to all: two times, two unknowns.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_LINKLATENCIES_H
#define CGX_BENCH_LINKLATENCIES_H

#include "cgx/cost.h"

namespace cgx::bench {

/// The latency of a message, with which the model of cgx/cost.h takes `treeSeconds` for a short all-reduce by
/// a tree among `ranks`; more than 0, however short that was.
double fitLatency(uint32_t ranks, double treeSeconds);

/// What a further message in flight adds, with which it takes `scatterSeconds` by scatter-reduce-allgather
/// among `ranks`, 3 or more; at least a hundredth of the latency.
double fitFurtherMessage(uint32_t ranks, double latencySeconds, double scatterSeconds);

} // namespace cgx::bench

#endif // CGX_BENCH_LINKLATENCIES_H
