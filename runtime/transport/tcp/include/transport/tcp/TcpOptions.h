//===-- transport/tcp/TcpOptions.h - How a rank was asked to connect -*- C++ -*-===//
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

/// A TcpConfig that was completed from the environment (CGX_TCP_RENDEZVOUS and its like, cgx/runtime.h) and
/// checked.
struct TcpOptions {
  enum class Rendezvous { HostPort, File, Store };
  enum class Tls { Off, Psk, Certificates };

  static constexpr uint32_t kMostRanks = 256;
  static constexpr uint32_t kMostStreams = 16;

  /// Refuses what cannot work, and what would let strangers in.
  static Result<TcpOptions> from(const TransportConfig &config);

  Rendezvous rendezvous = Rendezvous::HostPort;
  std::string host, port; ///< of HostPort
  std::string path;       ///< of File
  std::string address;    ///< where this rank listens; may be empty
  std::string secret;     ///< may be empty: the file or the store then brings one
  Tls tls = Tls::Off;
  std::string certificate, key, authority;
  uint32_t streams = 1;
  TcpConfig store; ///< of Store: its callbacks
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_TCPOPTIONS_H
