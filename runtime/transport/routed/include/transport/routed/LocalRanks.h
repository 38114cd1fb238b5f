//===-- routed/LocalRanks.h - The ranks of one host --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_ROUTED_LOCALRANKS_H
#define CGX_RUNTIME_TRANSPORT_ROUTED_LOCALRANKS_H

#include "transport/Transport.h"

namespace cgx {

/// Returns a key that is equal for ranks that see the same name, network and /dev/shm, and the same CGX_HOST
/// if that is set.
uint64_t hostKey();

struct LocalRanks {
  std::vector<uint32_t> ranks; ///< the ranks of this rank's host in order, including this one
  uint64_t nonce = 0;          ///< the first rank's nonce, which differs between jobs
};

/// Finds the ranks of this rank's host; all ranks call.
Result<LocalRanks> findLocalRanks(Transport &transport, std::chrono::milliseconds timeout);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_ROUTED_LOCALRANKS_H
