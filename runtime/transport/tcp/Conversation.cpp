//===-- transport/tcp/Conversation.cpp - Two ranks that greet each other -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversation.h"

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

Status Conversation::failure(const std::string &who) const {
  if (why.getCode() == CGX_PEER_DIED)
    return Status::error(CGX_PEER_DIED, who, " hung up at ", from, ": ", why.message());
  return Status::error(why.getCode(), who, " at ", from, " ", why.message());
}

/// A descriptor that can be given up.
static int openSpare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

tcp::endpoint Reception::endpoint() const {
  std::error_code ignored;
  return acceptor.local_endpoint(ignored);
}

void Reception::greetAs(const Hello &own, const Bytes32 &ownKey) {
  hello = own;
  key = ownKey;
}

Reception::Reception(Network &network, tcp::acceptor acceptor)
    : network(network), acceptor(std::move(acceptor)), spare(openSpare()) {}

Reception::~Reception() {
  if (spare >= 0)
    ::close(spare);
}

/// Where nobody can be let in any more, a guest leaves: one that has not said hello before one that has, as
/// ranks do at once, and the first of them before those that have just come. False where there is none.
bool Reception::dismissOne() {
  auto first = std::ranges::find_if(guests, [](const Conversation &one) { return !one.greeting.hasHeard(); });
  if (first == guests.end())
    first = guests.begin();
  if (first == guests.end())
    return false;
  turnAway(*first);
  guests.erase(first);
  ++dismissed;
  return true;
}

/// Of the connections that wait to be accepted the first, which could not be: it must not stay there, or all
/// behind it would wait for it. A rank comes again.
bool Reception::refuseOne() {
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

void Reception::accept() {
  testDelay("tcp: before accepting");
  for (;;) {
    std::error_code error;
    tcp::endpoint from;
    tcp::socket socket(network.io);
    acceptor.accept(socket, from, error);
    if (error.value() == EMFILE || error.value() == ENFILE) {
      outOfDescriptors = true;
      if (dismissOne() || refuseOne())
        continue;
    }
    if (error)
      return; // nobody there, or gone again
    if (guests.size() >= kMostGuests)
      dismissOne();
    Result<std::unique_ptr<Channel>> channel =
        Channel::over(std::move(socket), network.tls.get(), /*isServer=*/true);
    if (!channel.ok())
      continue;
    guests.emplace_back(std::move(*channel), Greeting(Greeting::Role::Host, hello, key), describe(from));
    // What it has said already tells it from strangers, who say nothing.
    if (guests.back().advance() == Conversation::State::Failed) {
      turnAway(guests.back());
      guests.pop_back();
    }
  }
}

std::string Reception::troubles() const {
  std::string words = strangers.words();
  if (dismissed != 0)
    words +=
        concat(words.empty() ? "" : "; ", dismissed, " connections were closed before they said who came",
               outOfDescriptors ? ", since this process may open no more files (ulimit -n)"
                                : ", since too many were open");
  return words;
}

/// Notes why a guest was turned away; nothing of one who has not even said hello, as those do who look at
/// ports. A rank of another job tells more than what is no rank.
void Reception::turnAway(const Conversation &guest) {
  const Hello &peer = guest.greeting.peer();
  const bool isRank = guest.greeting.hasHeard() && peer.magic == Hello::kMagic;
  std::string words;
  if (guest.why.getCode() == CGX_MISMATCH)
    words = guest.why.message();
  else if (!guest.greeting.hasHeard())
    words = network.tls ? "said nothing that TLS understands" : "";
  else if (peer.job != hello.job)
    words = "is a rank of another job";
  else
    words = concat("said to be rank ", peer.rank, " and did not prove that it knows the secret");
  if (!words.empty())
    strangers.hear(isRank ? Telling::Answer : Telling::Silence,
                   concat("who came from ", guest.from, " ", words));
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
      turnAway(*current);
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
  // A port of its own side may meet itself where nobody listens.
  if (std::error_code none; socket.local_endpoint(none) == endpoint)
    return notReached(endpoint, "nobody listens there");
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
      return conversation.failure("who listens");
    if (Clock::now() >= deadline)
      return Status::error(CGX_TIMEOUT, "it did not answer at ", conversation.from);
    const Watch watch = conversation.watch();
    waitForAny({&watch, 1}, deadline);
  }
  if (const uint32_t rank = conversation.greeting.peer().rank; rank != expectedRank)
    return Status::error(CGX_MISMATCH, "who listens at ", conversation.from, " is rank ", rank);
  return std::move(conversation.channel);
}

} // namespace cgx::tcp
