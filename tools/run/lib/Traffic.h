//===-- Traffic.h - Bytes that a step sends ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes from the manifest alone how many bytes leave a rank in one step. The run compares them
// with those that the transport counted.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_TRAFFIC_H
#define CGX_RUN_LIB_TRAFFIC_H

#include "cgx/run/Manifest.h"

namespace cgx::run {

struct Traffic {
  uint64_t raw = 0;    ///< bytes if the elements were sent uncompressed
  uint64_t wire = 0;   ///< bytes with the operand's codec
  bool isMost = false; ///< payloads vary in size, and `wire` is an upper bound

  bool allows(uint64_t bytes) const { return isMost ? bytes <= wire : bytes == wire; }
};

/// Returns in how many of the `runs` runs of a step a rank sends.
uint64_t sendingRuns(const Collective &collective, uint32_t rank, uint64_t runs);

/// Returns the traffic of one run of a collective, of a job with `ranks` ranks, in which the rank sends.
Traffic traffic(const Collective &collective, const Operand &operand, uint32_t ranks, uint32_t rank);

} // namespace cgx::run

#endif // CGX_RUN_LIB_TRAFFIC_H
