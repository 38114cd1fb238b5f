//===-- transport/tcp/Conversation.h - Two ranks that greet each other -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_CONVERSATION_H
#define CGX_RUNTIME_TRANSPORT_TCP_CONVERSATION_H

#include "Channel.h"
#include "transport/MostTelling.h"
#include "transport/tcp/Greeting.h"

#include <list>

namespace cgx::tcp {

/// What all connections of a rank have in common.
struct Network {
  asio::io_context io;
  std::shared_ptr<TlsContext> tls; ///< null: bytes travel as they are
};

/// Moves the bytes of a greeting.
class Conversation {
public:
  Conversation(std::unique_ptr<Channel> channel, Greeting greeting, std::string from)
      : channel(std::move(channel)), greeting(std::move(greeting)), from(std::move(from)) {}

  enum class State { Going, Over, Failed };
  /// Does what can be done without waiting.
  State advance();
  Watch watch() const {
    return {channel->descriptor(), !greeting.outgoing().empty() || channel->wantsToWrite()};
  }
  Status why = {}; ///< it has failed: what the other is, has or did, or why the connection ended
  /// The same as a sentence, with the other called `who`.
  Status failure(const std::string &who) const;

  std::unique_ptr<Channel> channel;
  Greeting greeting;
  std::string from; ///< where the other is
  Clock::time_point begun = Clock::now();
};

/// Where a rank listens, and those who came there and have not proven themselves yet. A stranger who says
/// nothing keeps nobody waiting, and there is room for a few only: also where this process may open few
/// files.
class Reception {
public:
  Reception(Network &network, asio::ip::tcp::acceptor acceptor);
  ~Reception();
  Reception(const Reception &) = delete;
  Reception &operator=(const Reception &) = delete;

  asio::ip::tcp::endpoint endpoint() const;
  /// From now on guests are greeted like this.
  void greetAs(const Hello &hello, const Bytes32 &key);

  /// Waits a little for guests, or for one of `others`; the guests that have proven themselves.
  std::list<Conversation> welcome(std::span<const Watch> others, Clock::time_point deadline);

  /// Who came and was turned away, in words; empty if nobody was. Of many, one who tells most, and how many
  /// there was no room for.
  std::string troubles() const;

private:
  void accept();
  bool dismissOne();
  bool refuseOne();
  void turnAway(const Conversation &guest);

  Network &network;
  mutable asio::ip::tcp::acceptor acceptor;
  Hello hello;
  Bytes32 key{};
  std::list<Conversation> guests;
  MostTelling strangers;
  int spare; ///< a descriptor for the moment in which there is no other
  uint64_t dismissed = 0;
  bool outOfDescriptors = false;
};

/// Listens at an address of this host: an error says whether the port is taken (CGX_RESOURCE_EXHAUSTED) or
/// the address is none of this host (CGX_INVALID_ARGUMENT).
Result<asio::ip::tcp::acceptor> listenAt(Network &network, const asio::ip::tcp::endpoint &endpoint);

/// Where a name leads. Numbers are taken as they are.
Result<std::vector<asio::ip::tcp::endpoint>> resolve(Network &network, const std::string &host,
                                                     const std::string &port);

/// What is said of an endpoint to which no way leads.
Status notReached(const asio::ip::tcp::endpoint &endpoint, const std::string &why);

/// Connects, and begins to greet. CGX_PEER_DIED where nobody listens.
Result<Conversation> call(Network &network, const asio::ip::tcp::endpoint &endpoint, Greeting greeting,
                          Clock::time_point deadline);

/// Connects and greets. CGX_PEER_DIED where nobody listens, or where who does hangs up.
Result<std::unique_ptr<Channel>> visit(Network &network, const asio::ip::tcp::endpoint &endpoint,
                                       Greeting greeting, uint32_t expectedRank, Clock::time_point deadline);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_CONVERSATION_H
