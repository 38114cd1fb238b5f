//===-- routed/IntraHost.h - Shared memory inside hosts ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_ROUTED_INTRAHOST_H
#define CGX_RUNTIME_TRANSPORT_ROUTED_INTRAHOST_H

#include "transport/Transport.h"

namespace cgx {

/// Connects ranks of one host over shared memory and all others over MPI. Ranks are of one host when they see
/// the same name, network and /dev/shm, and the same CGX_HOST if that is set.
Result<std::unique_ptr<Transport>> connectShmMpi(const TransportConfig &config);

/// Connects ranks of one host over shared memory and all others over TCP.
Result<std::unique_ptr<Transport>> connectShmTcp(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_ROUTED_INTRAHOST_H
