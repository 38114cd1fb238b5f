//===-- routed/WithSharedMemory.h - A shorter way inside of hosts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_ROUTED_WITHSHAREDMEMORY_H
#define CGX_RUNTIME_TRANSPORT_ROUTED_WITHSHAREDMEMORY_H

#include "transport/Transport.h"

namespace cgx {

/// Lets the ranks of one host talk over shared memory, and those of others over the transport that has come
/// together; all ranks call. `name` begins the names of the segments.
Result<std::unique_ptr<Transport>> withSharedMemory(Result<std::unique_ptr<Transport>> outer,
                                                    const TransportConfig &config, const char *name);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_ROUTED_WITHSHAREDMEMORY_H
