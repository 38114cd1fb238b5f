//===-- routed/InsideHosts.h - A shorter way inside of hosts ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_ROUTED_INSIDEHOSTS_H
#define CGX_RUNTIME_TRANSPORT_ROUTED_INSIDEHOSTS_H

#include "transport/Transport.h"

namespace cgx {

/// Ranks of one host talk over shared memory, all others over MPI. Ranks are of one host when they see
/// the same name, network and /dev/shm, and the same CGX_HOST if that is set.
Result<std::unique_ptr<Transport>> connectShmMpi(const TransportConfig &config);

/// The same, with TCP between hosts.
Result<std::unique_ptr<Transport>> connectShmTcp(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_ROUTED_INSIDEHOSTS_H
