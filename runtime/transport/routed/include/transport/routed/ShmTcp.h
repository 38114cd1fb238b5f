//===-- routed/ShmTcp.h - Shared memory, and TCP between hosts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_ROUTED_SHMTCP_H
#define CGX_RUNTIME_TRANSPORT_ROUTED_SHMTCP_H

#include "transport/Transport.h"

namespace cgx {

/// Ranks of one host, as connectShmMpi() tells hosts apart, talk over shared memory, all others over TCP.
Result<std::unique_ptr<Transport>> connectShmTcp(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_ROUTED_SHMTCP_H
