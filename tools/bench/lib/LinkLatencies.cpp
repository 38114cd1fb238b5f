//===-- LinkLatencies.cpp - Cost of a message, from collectives -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkLatencies.h"

#include <algorithm>

double cgx::bench::fitLatency(uint32_t ranks, double treeSeconds) {
  return std::max(treeSeconds / (2 * cgx_tree_depth(ranks)), 1e-9);
}

double cgx::bench::fitFurtherMessage(uint32_t ranks, double latencySeconds, double scatterSeconds) {
  return std::max((scatterSeconds / 2 - latencySeconds) / (ranks - 2), latencySeconds / 100);
}
