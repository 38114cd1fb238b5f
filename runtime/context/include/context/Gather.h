//===-- context/Gather.h - Sends bytes of all ranks to rank 0 ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CONTEXT_GATHER_H
#define CGX_RUNTIME_CONTEXT_GATHER_H

#include "transport/Transport.h"

namespace cgx {

/// Sends the bytes of every rank, any number of them, to rank 0. Returns them by rank there, and nothing on
/// the others. It serves host programs, between steps, and is no collective of a program.
Result<std::vector<std::vector<std::byte>>> gather(Transport &transport, std::chrono::milliseconds timeout,
                                                   uint64_t step, std::span<const std::byte> bytes);

/// Sends the bytes of every rank to all ranks; all have the same number of bytes.
Result<std::vector<std::vector<std::byte>>> allGather(Transport &transport, std::chrono::milliseconds timeout,
                                                      uint64_t step, std::span<const std::byte> bytes);

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_GATHER_H
