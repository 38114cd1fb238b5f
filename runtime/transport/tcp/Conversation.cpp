//===-- transport/tcp/Conversation.cpp - Two ranks that greet each other -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversation.h"

#include <algorithm>
#include <fcntl.h>
#include <poll.h>

namespace cgx::tcp {

using asio::ip::tcp;

/// How long a guest may take to say who it is, and how many may do that at a time.
static constexpr std::chrono::seconds kGreetingTime{5};
static constexpr size_t kMostGuests = 1024;
/// Between two looks at what nobody rings for.
static constexpr std::chrono::milliseconds kLook{50};

/// Why a connection was closed: TLS closes it where it does not find the same key, or a certificate.
static Status closedBecause(const Channel &channel) {
  if (channel.hasTls() && channel.whyClosed() != kClosed)
    return Status::error(CGX_MISMATCH,
                         "does not agree about TLS, its secret or certificates: ", channel.whyClosed());
  return Status(CGX_PEER_DIED, channel.whyClosed());
}

Conversation::State Conversation::advance() {
  for (;;) {
    if (!greeting.outgoing().empty()) {
      const Channel::Moved moved = channel->write(greeting.outgoing());
      greeting.sent(moved.bytes);
      if (moved.isClosed) {
        why = closedBecause(*channel);
        return State::Failed;
      }
      if (moved.bytes == 0)
        return State::Going;
      continue;
    }
    if (greeting.isOver())
      return State::Over;
    const Channel::Moved moved = channel->read(greeting.incoming());
    if (moved.isClosed) {
      why = closedBecause(*channel);
      return State::Failed;
    }
    if (moved.bytes == 0)
      return State::Going;
    why = greeting.received(moved.bytes);
    if (!why.ok())
      return State::Failed;
  }
}

tcp::endpoint Reception::endpoint() const {
  std::error_code ignored;
  return acceptor.local_endpoint(ignored);
}

void Reception::greetAs(const Hello &own, const Bytes32 &ownKey) {
  hello = own;
  key = ownKey;
}

void Reception::accept() {
  for (;;) {
    std::error_code error;
    tcp::endpoint from;
    tcp::socket socket(network.io);
    acceptor.accept(socket, from, error);
    if (error)
      return; // nobody there, or gone again
    if (guests.size() >= kMostGuests)
      continue; // closes it
    Result<std::unique_ptr<Channel>> channel =
        Channel::over(std::move(socket), network.tls.get(), /*isServer=*/true);
    if (channel.ok())
      guests.emplace_back(std::move(*channel), Greeting(Greeting::Role::Host, hello, key), describe(from));
  }
}

/// Why a guest was turned away; nothing of one who has not even said hello, as those do who look at ports.
std::string Reception::describeFailure(const Conversation &guest) const {
  if (guest.why.getCode() == CGX_MISMATCH)
    return guest.why.message();
  if (!guest.greeting.hasHeard())
    return network.tls ? "said nothing that TLS understands" : "";
  const Hello &peer = guest.greeting.peer();
  if (peer.job != hello.job)
    return "is a rank of another job";
  return concat("said to be rank ", peer.rank, " and did not prove that it knows the secret");
}

std::list<Conversation> Reception::welcome(std::span<const Watch> others, Clock::time_point deadline) {
  std::vector<Watch> watches(others.begin(), others.end());
  watches.push_back({acceptor.native_handle(), false});
  for (const Conversation &guest : guests)
    watches.push_back(guest.watch());
  waitForAny(watches, std::min(deadline, Clock::now() + kLook));
  accept();
  std::list<Conversation> greeted;
  for (auto guest = guests.begin(); guest != guests.end();) {
    auto current = guest++;
    const Conversation::State state = current->advance();
    if (state == Conversation::State::Over) {
      greeted.splice(greeted.end(), guests, current);
    } else if (state == Conversation::State::Failed || Clock::now() - current->begun >= kGreetingTime) {
      if (std::string words = describeFailure(*current); !words.empty())
        lastStranger = concat("who came from ", current->from, " ", words);
      guests.erase(current);
    }
  }
  return greeted;
}

Result<tcp::acceptor> listenAt(Network &network, const tcp::endpoint &endpoint) {
  std::error_code error;
  tcp::acceptor acceptor(network.io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    // Otherwise a job that is started again would wait for the connections of the last.
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    acceptor.bind(endpoint, error);
  }
  if (!error)
    acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (!error)
    acceptor.non_blocking(true, error);
  if (!error)
    return acceptor;
  const cgx_status code =
      error == asio::error::address_in_use ? CGX_RESOURCE_EXHAUSTED : CGX_INVALID_ARGUMENT;
  return Status::error(code, "cannot listen at ", describe(endpoint), ": ", error.message());
}

Result<std::vector<tcp::endpoint>> resolve(Network &network, const std::string &host,
                                           const std::string &port) {
  std::error_code error;
  const auto found = tcp::resolver(network.io).resolve(host, port, error);
  std::vector<tcp::endpoint> endpoints;
  for (const auto &entry : found)
    endpoints.push_back(entry.endpoint());
  if (error || endpoints.empty())
    return Status::error(CGX_INVALID_ARGUMENT, "cannot resolve '", host,
                         "': ", error ? error.message() : "it has no address");
  return endpoints;
}

static Result<tcp::socket> connectTo(Network &network, const tcp::endpoint &endpoint,
                                     Clock::time_point deadline) {
  std::error_code error;
  tcp::socket socket(network.io);
  socket.open(endpoint.protocol(), error);
  if (!error)
    socket.non_blocking(true, error);
  if (!error)
    socket.connect(endpoint, error);
  if (error == asio::error::in_progress || error == asio::error::would_block) {
    pollfd poll{socket.native_handle(), POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (::poll(&poll, 1, left < 0 ? 0 : int(left)) <= 0)
      return Status::error(CGX_TIMEOUT, "did not answer at ", describe(endpoint));
    int code = 0;
    socklen_t length = sizeof code;
    ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &code, &length);
    error = std::error_code(code, std::system_category());
  }
  if (error)
    return Status::error(CGX_PEER_DIED, "cannot be reached at ", describe(endpoint), ": ", error.message());
  // A port of its own side may meet itself where nobody listens.
  if (std::error_code none; socket.local_endpoint(none) == endpoint)
    return Status::error(CGX_PEER_DIED, "cannot be reached at ", describe(endpoint),
                         ": nobody listens there");
  return socket;
}

Result<Conversation> call(Network &network, const tcp::endpoint &endpoint, Greeting greeting,
                          Clock::time_point deadline) {
  Result<tcp::socket> socket = connectTo(network, endpoint, deadline);
  if (!socket.ok())
    return socket.status();
  Result<std::unique_ptr<Channel>> channel =
      Channel::over(std::move(*socket), network.tls.get(), /*isServer=*/false);
  if (!channel.ok())
    return channel.status();
  return Conversation(std::move(*channel), std::move(greeting), describe(endpoint));
}

Result<std::unique_ptr<Channel>> visit(Network &network, const tcp::endpoint &endpoint, Greeting greeting,
                                       uint32_t expectedRank, Clock::time_point deadline) {
  Result<Conversation> called = call(network, endpoint, std::move(greeting), deadline);
  if (!called.ok())
    return called.status();
  Conversation &conversation = *called;
  for (;;) {
    const Conversation::State state = conversation.advance();
    if (state == Conversation::State::Over)
      break;
    if (state == Conversation::State::Failed)
      return conversation.why.within(concat("at ", conversation.from));
    if (Clock::now() >= deadline)
      return Status::error(CGX_TIMEOUT, "did not answer at ", conversation.from);
    const Watch watch = conversation.watch();
    waitForAny({&watch, 1}, deadline);
  }
  if (const uint32_t rank = conversation.greeting.peer().rank; rank != expectedRank)
    return Status::error(CGX_MISMATCH, "at ", conversation.from, " is rank ", rank);
  return std::move(conversation.channel);
}

} // namespace cgx::tcp
