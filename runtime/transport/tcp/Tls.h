//===-- transport/tcp/Tls.h - Encryption of connections -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_TLS_H
#define CGX_RUNTIME_TRANSPORT_TCP_TLS_H

#include "status/Status.h"
#include "transport/tcp/Hmac.h"
#include "transport/tcp/TcpOptions.h"

#include <memory>

struct ssl_ctx_st;
struct ssl_st;

namespace cgx::tcp {

/// The TLS state that all connections of a rank share. TLS 1.3 is required.
class TlsContext {
public:
  /// Reads the files, or derives a key from the secret.
  static Result<std::shared_ptr<TlsContext>> create(const TcpOptions &options, const Bytes32 &jobKey);
  ~TlsContext();
  TlsContext(const TlsContext &) = delete;
  TlsContext &operator=(const TlsContext &) = delete;

  /// Creates a TLS connection over a socket, which stays the caller's. It never raises SIGPIPE.
  Result<ssl_st *> attach(int descriptor, bool isServer) const;

  const Bytes32 &sharedKey() const { return key; }

private:
  TlsContext(ssl_ctx_st *context, const Bytes32 &key) : context(context), key(key) {}

  ssl_ctx_st *context;
  Bytes32 key;
};

/// The reason for a connection that has ended when no more is known.
inline constexpr const char *kClosed = "the connection was closed";

/// Returns OpenSSL's description of this thread's last failure, and clears its list of errors.
std::string tlsReason();

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_TLS_H
