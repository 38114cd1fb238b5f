//===-- transport/tcp/Tcp.h - Ranks started by any launcher -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_TCP_H
#define CGX_RUNTIME_TRANSPORT_TCP_TCP_H

#include "transport/Transport.h"

namespace cgx {

/// Joins the job over TCP: rank 0 listens at the rendezvous, and all others connect to it. Returns
/// CGX_UNSUPPORTED in a build without Asio and OpenSSL.
Result<std::unique_ptr<Transport>> connectTcp(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_TCP_TCP_H
