//===-- context/CompareConfigs.h - Checks that all ranks run the same program -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CONTEXT_COMPARECONFIGS_H
#define CGX_RUNTIME_CONTEXT_COMPARECONFIGS_H

#include "manifest/Manifest.h"
#include "transport/MessageBatch.h"

namespace cgx {

/// The configuration of a rank beside its program.
struct RankConfig {
  uint32_t abiVersion = 0;
  uint64_t seed = 0;
  uint64_t digest = 0; ///< digest of the host program's own data
};

/// Compares across all ranks what must be equal. Every rank sees every message, so that every rank reaches
/// the same verdict and can name the differences.
Status compareConfigs(Transport &transport, std::chrono::milliseconds timeout, const RankConfig &config,
                      const Program &program);

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_COMPARECONFIGS_H
