//===-- transport/tcp/TcpOptions.h - The options of TCP ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_TCPOPTIONS_H
#define CGX_RUNTIME_TRANSPORT_TCP_TCPOPTIONS_H

#include "transport/Transport.h"

namespace cgx::tcp {

/// A TcpConfig that was completed from the environment (CGX_TCP_RENDEZVOUS and others, cgx/runtime.h) and
/// checked.
struct TcpOptions {
  enum class Rendezvous { HostPort, File, Store };
  enum class Tls { Off, Psk, Certificates };

  static constexpr uint32_t kMostRanks = 256;
  static constexpr uint32_t kMostStreams = 16;

  /// Rejects configurations that cannot work, or that would let strangers in.
  static Result<TcpOptions> from(const TransportConfig &config);

  Rendezvous rendezvous = Rendezvous::HostPort;
  std::string host, port; ///< if rendezvous is HostPort
  std::string path;       ///< if rendezvous is File
  std::string address;    ///< the address at which this rank listens; may be empty
  std::string secret;     ///< may be empty: the file or the store then provides one
  Tls tls = Tls::Off;
  std::string certificate, key, authority;
  uint32_t streams = 1;
  TcpConfig store; ///< if rendezvous is Store: its callbacks
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_TCPOPTIONS_H
