//===-- context/Handshake.h - Do all ranks run the same program --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CONTEXT_HANDSHAKE_H
#define CGX_RUNTIME_CONTEXT_HANDSHAKE_H

#include "manifest/Manifest.h"
#include "transport/MessageBatch.h"

namespace cgx {

/// What a rank says of itself, beside its program.
struct Identity {
  uint32_t abiVersion = 0;
  uint64_t seed = 0;
  uint64_t digest = 0; ///< of what the host wants to be equal
};

/// Compares with all ranks what must be equal. Every rank sees every hello, so that
/// every rank comes to the same verdict and can say who has what.
Status shakeHands(Transport &transport, std::chrono::milliseconds timeout, const Identity &identity,
                  const Program &program);

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_HANDSHAKE_H
