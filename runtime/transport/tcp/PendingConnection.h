//===-- transport/tcp/PendingConnection.h - Connections before the handshake ends -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_PENDINGCONNECTION_H
#define CGX_RUNTIME_TRANSPORT_TCP_PENDINGCONNECTION_H

#include "Channel.h"
#include "transport/MostTelling.h"
#include "transport/tcp/Handshake.h"

#include <list>

namespace cgx::tcp {

/// The state that all connections of a rank share.
struct Network {
  asio::io_context io;
  std::shared_ptr<TlsContext> tls; ///< null: bytes travel unencrypted
};

/// A connection whose handshake is under way. It moves the handshake's bytes.
class PendingConnection {
public:
  PendingConnection(std::unique_ptr<Channel> channel, Handshake handshake, std::string from)
      : channel(std::move(channel)), handshake(std::move(handshake)), from(std::move(from)) {}

  enum class State { Going, Over, Failed };
  /// Advances the handshake as far as possible without waiting.
  State advance();
  Watch watch() const {
    return {channel->descriptor(), !handshake.outgoing().empty() || channel->wantsToWrite()};
  }
  Status why =
      {}; ///< the failure: a property or act of the peer, without its name, or why the connection ended
  /// Returns the failure as a sentence that calls the peer `who`.
  Status failure(const std::string &who) const;

  std::unique_ptr<Channel> channel;
  Handshake handshake;
  std::string from; ///< the peer's address
  Clock::time_point begun = Clock::now();
};

/// The address at which a rank listens, and the clients that have not authenticated themselves yet. A
/// stranger that sends nothing delays nobody. The number of clients is limited, also by the files that this
/// process may open.
class Listener {
public:
  Listener(Network &network, asio::ip::tcp::acceptor acceptor);
  ~Listener();
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;

  asio::ip::tcp::endpoint endpoint() const;
  /// Answers later clients with this hello and key.
  void answerWith(const Hello &hello, const Bytes32 &key);

  /// Waits a little for clients, or for one of `others`. Returns the clients that have authenticated
  /// themselves.
  std::list<PendingConnection> welcome(std::span<const Watch> others, Clock::time_point deadline);

  /// Returns text about rejected clients: the reason that explains most, and how many clients had to be
  /// dropped. Empty if there were none.
  std::string troubles() const;

private:
  void accept();
  bool dropOne();
  bool rejectOne();
  void reject(const PendingConnection &client);

  Network &network;
  mutable asio::ip::tcp::acceptor acceptor;
  Hello hello;
  Bytes32 key{};
  std::list<PendingConnection> clients;
  MostTelling strangers;
  int spare; ///< a descriptor to give up when no other is available
  uint64_t dismissed = 0;
  bool outOfDescriptors = false;
};

/// Listens at an address of this host. An error tells whether the port is taken (CGX_RESOURCE_EXHAUSTED) or
/// the address does not belong to this host (CGX_INVALID_ARGUMENT).
Result<asio::ip::tcp::acceptor> listenAt(Network &network, const asio::ip::tcp::endpoint &endpoint);

/// Returns the endpoints of a host name or a numeric address.
Result<std::vector<asio::ip::tcp::endpoint>> resolve(Network &network, const std::string &host,
                                                     const std::string &port);

/// Returns the error for an endpoint that cannot be reached.
Status notReached(const asio::ip::tcp::endpoint &endpoint, const std::string &why);

/// Connects, and starts the handshake. Returns CGX_PEER_DIED if nobody listens.
Result<PendingConnection> call(Network &network, const asio::ip::tcp::endpoint &endpoint, Handshake handshake,
                               Clock::time_point deadline);

/// Connects and completes the handshake. Returns CGX_PEER_DIED if nobody listens, or if the peer closes the
/// connection.
Result<std::unique_ptr<Channel>> connectTo(Network &network, const asio::ip::tcp::endpoint &endpoint,
                                           Handshake handshake, uint32_t expectedRank,
                                           Clock::time_point deadline);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_PENDINGCONNECTION_H
