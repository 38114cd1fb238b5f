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
#include "transport/Exchange.h"

namespace cgx {

/// Compares with all ranks what must be equal. Every rank sees every card, so that
/// every rank comes to the same verdict and can say who has what.
Status shakeHands(Transport &transport, std::chrono::milliseconds timeout, uint32_t abiVersion, uint64_t seed,
                  const Program &program);

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_HANDSHAKE_H
