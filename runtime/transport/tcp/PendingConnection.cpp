//===-- transport/tcp/PendingConnection.cpp - Connections before the handshake ends -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PendingConnection.h"

#include "transport/TestDelay.h"

#include "cgx/formats/SystemError.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cgx::tcp {

using asio::ip::tcp;

/// The time in which a client must authenticate itself, and how many may be doing so at a time.
static constexpr std::chrono::seconds kHandshakeTime{5};
static constexpr size_t kMostClients = 1024;
/// The time between two checks of conditions for which no descriptor wakes the thread.
static constexpr std::chrono::milliseconds kLook{50};

/// Returns the reason for which a connection was closed. TLS closes it if the peer has another key, or no
/// valid certificate.
static Status closedBecause(const Channel &channel) {
  if (channel.hasTls() && channel.whyClosed() != kClosed)
    return Status::error(CGX_MISMATCH,
                         "does not agree about TLS, its secret or certificates: ", channel.whyClosed());
  return Status(CGX_PEER_DIED, channel.whyClosed());
}

PendingConnection::State PendingConnection::advance() {
  for (;;) {
    if (!handshake.outgoing().empty()) {
      const Channel::Moved moved = channel->write(handshake.outgoing());
      handshake.sent(moved.bytes);
      if (moved.isClosed) {
        why = closedBecause(*channel);
        return State::Failed;
      }
      if (moved.bytes == 0)
        return State::Going;
      continue;
    }
    if (handshake.isOver())
      return State::Over;
    const Channel::Moved moved = channel->read(handshake.incoming());
    if (moved.isClosed) {
      why = closedBecause(*channel);
      return State::Failed;
    }
    if (moved.bytes == 0)
      return State::Going;
    why = handshake.received(moved.bytes);
    if (!why.ok())
      return State::Failed;
  }
}

Status PendingConnection::failure(const std::string &who) const {
  if (why.getCode() == CGX_PEER_DIED)
    return Status::error(CGX_PEER_DIED, who, " hung up at ", from, ": ", why.message());
  return Status::error(why.getCode(), who, " at ", from, " ", why.message());
}

/// Opens a descriptor that can be given up when there is no other.
static int openSpare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

tcp::endpoint Listener::endpoint() const {
  std::error_code ignored;
  return acceptor.local_endpoint(ignored);
}

void Listener::answerWith(const Hello &own, const Bytes32 &ownKey) {
  hello = own;
  key = ownKey;
}

Listener::Listener(Network &network, tcp::acceptor acceptor)
    : network(network), acceptor(std::move(acceptor)), spare(openSpare()) {}

Listener::~Listener() {
  if (spare >= 0)
    ::close(spare);
}

/// Drops a client when no other can be accepted: one that has not sent its hello before one that has, since
/// ranks send it at once, and the oldest before newer ones. Returns false if there is none.
bool Listener::dropOne() {
  auto first =
      std::ranges::find_if(clients, [](const PendingConnection &one) { return !one.handshake.hasHeard(); });
  if (first == clients.end())
    first = clients.begin();
  if (first == clients.end())
    return false;
  reject(*first);
  clients.erase(first);
  ++dismissed;
  return true;
}

/// Closes the first of the connections that wait to be accepted. It could not be accepted, and all later ones
/// would wait for it. A rank connects again.
bool Listener::rejectOne() {
  if (spare < 0)
    return false;
  ::close(spare);
  const int one = ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
  if (one >= 0) {
    ::close(one);
    ++dismissed;
  }
  spare = openSpare();
  return one >= 0;
}

void Listener::accept() {
  testDelay("tcp: before accepting");
  for (;;) {
    std::error_code error;
    tcp::endpoint from;
    tcp::socket socket(network.io);
    acceptor.accept(socket, from, error);
    if (error.value() == EMFILE || error.value() == ENFILE) {
      outOfDescriptors = true;
      if (dropOne() || rejectOne())
        continue;
    }
    if (error)
      return; // no client waits, or it has gone
    if (clients.size() >= kMostClients)
      dropOne();
    Result<std::unique_ptr<Channel>> channel =
        Channel::over(std::move(socket), network.tls.get(), /*isServer=*/true);
    if (!channel.ok())
      continue;
    clients.emplace_back(std::move(*channel), Handshake(Handshake::Role::Server, hello, key), describe(from));
    // Its first message already tells a rank from strangers, which send nothing.
    if (clients.back().advance() == PendingConnection::State::Failed) {
      reject(clients.back());
      clients.pop_back();
    }
  }
}

std::string Listener::troubles() const {
  std::string words = strangers.words();
  if (dismissed != 0)
    words +=
        concat(words.empty() ? "" : "; ", dismissed, " connections were closed before they said who came",
               outOfDescriptors ? ", since this process may open no more files (ulimit -n)"
                                : ", since too many were open");
  return words;
}

/// Records why a client was rejected, except one that has not even sent a hello, such as a port scanner. A
/// rank of another job explains more than a client that is no rank.
void Listener::reject(const PendingConnection &client) {
  const Hello &peer = client.handshake.peer();
  const bool isRank = client.handshake.hasHeard() && peer.magic == Hello::kMagic;
  std::string words;
  if (client.why.getCode() == CGX_MISMATCH)
    words = client.why.message();
  else if (!client.handshake.hasHeard())
    words = network.tls ? "said nothing that TLS understands" : "";
  else if (peer.job != hello.job)
    words = "is a rank of another job";
  else
    words = concat("said to be rank ", peer.rank, " and did not prove that it knows the secret");
  if (!words.empty())
    strangers.hear(isRank ? Telling::Answer : Telling::Silence,
                   concat("who came from ", client.from, " ", words));
}

std::list<PendingConnection> Listener::welcome(std::span<const Watch> others, Clock::time_point deadline) {
  std::vector<Watch> watches(others.begin(), others.end());
  watches.push_back({acceptor.native_handle(), false});
  for (const PendingConnection &client : clients)
    watches.push_back(client.watch());
  waitForAny(watches, std::min(deadline, Clock::now() + kLook));
  accept();
  std::list<PendingConnection> greeted;
  for (auto client = clients.begin(); client != clients.end();) {
    auto current = client++;
    const PendingConnection::State state = current->advance();
    if (state == PendingConnection::State::Over) {
      greeted.splice(greeted.end(), clients, current);
    } else if (state == PendingConnection::State::Failed || Clock::now() - current->begun >= kHandshakeTime) {
      reject(*current);
      clients.erase(current);
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
    // Without this option a restarted job would wait until the connections of its last start have expired.
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
  return Status::error(code, "cannot listen at ", describe(endpoint), ": ", formats::systemErrorText(error));
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
                         "': ", error ? formats::systemErrorText(error) : "it has no address");
  return endpoints;
}

Status notReached(const tcp::endpoint &endpoint, const std::string &why) {
  return Status::error(CGX_PEER_DIED, "it cannot be reached at ", describe(endpoint), ": ", why);
}

static Result<tcp::socket> connectTo(Network &network, const tcp::endpoint &endpoint,
                                     Clock::time_point deadline) {
  testDelay("tcp: before connecting");
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
      return Status::error(CGX_TIMEOUT, "it did not answer at ", describe(endpoint));
    int code = 0;
    socklen_t length = sizeof code;
    ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &code, &length);
    error = std::error_code(code, std::system_category());
  }
  if (error)
    return notReached(endpoint, formats::systemErrorText(error));
  // TCP may connect a socket to itself if nobody listens at the port.
  if (std::error_code none; socket.local_endpoint(none) == endpoint)
    return notReached(endpoint, "nobody listens there");
  return socket;
}

Result<PendingConnection> call(Network &network, const tcp::endpoint &endpoint, Handshake handshake,
                               Clock::time_point deadline) {
  Result<tcp::socket> socket = connectTo(network, endpoint, deadline);
  if (!socket.ok())
    return socket.status();
  Result<std::unique_ptr<Channel>> channel =
      Channel::over(std::move(*socket), network.tls.get(), /*isServer=*/false);
  if (!channel.ok())
    return channel.status();
  return PendingConnection(std::move(*channel), std::move(handshake), describe(endpoint));
}

Result<std::unique_ptr<Channel>> connectTo(Network &network, const tcp::endpoint &endpoint,
                                           Handshake handshake, uint32_t expectedRank,
                                           Clock::time_point deadline) {
  Result<PendingConnection> called = call(network, endpoint, std::move(handshake), deadline);
  if (!called.ok())
    return called.status();
  PendingConnection &pending = *called;
  for (;;) {
    const PendingConnection::State state = pending.advance();
    if (state == PendingConnection::State::Over)
      break;
    if (state == PendingConnection::State::Failed)
      return pending.failure("who listens");
    if (Clock::now() >= deadline)
      return Status::error(CGX_TIMEOUT, "it did not answer at ", pending.from);
    const Watch watch = pending.watch();
    waitForAny({&watch, 1}, deadline);
  }
  if (const uint32_t rank = pending.handshake.peer().rank; rank != expectedRank)
    return Status::error(CGX_MISMATCH, "who listens at ", pending.from, " is rank ", rank);
  return std::move(pending.channel);
}

} // namespace cgx::tcp
