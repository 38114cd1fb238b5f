//===-- context/Gather.h - Bring what ranks have to rank 0 -------*- C++ -*-===//
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

/// Hands the bytes of every rank, as many as it likes, to rank 0: the result by rank there, nothing on
/// the others. For hosts, between steps; it is no collective of a program.
Result<std::vector<std::vector<std::byte>>> gather(Transport &transport, std::chrono::milliseconds timeout,
                                                   uint64_t step, std::span<const std::byte> bytes);

/// The same to all ranks, of as many bytes of each.
Result<std::vector<std::vector<std::byte>>> allGather(Transport &transport, std::chrono::milliseconds timeout,
                                                      uint64_t step, std::span<const std::byte> bytes);

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_GATHER_H
