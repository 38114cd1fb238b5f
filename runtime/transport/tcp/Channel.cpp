//===-- transport/tcp/Channel.cpp - A connection between two ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"

#include "ControlReply.h"

#include "cgx/formats/SystemError.h"

#include <array>
#include <asio/buffer.hpp>
#include <fcntl.h>
#include <mutex>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <set>
#include <sstream>
#include <unistd.h>

namespace cgx::tcp {

/// The most pieces that one call takes.
static constexpr size_t kMostPieces = 16;

namespace {

/// The sockets of this process. A child that is forked and does not exec, such as a worker of a data loader,
/// would keep them open: others would never see the rank die.
class Sockets {
public:
  void add(int descriptor) {
    std::lock_guard lock(mutex);
    descriptors.insert(descriptor);
  }
  void remove(int descriptor) {
    std::lock_guard lock(mutex);
    descriptors.erase(descriptor);
  }
  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }
  /// The descriptors stay open on /dev/null, so that nothing else gets their numbers while channels remain
  /// there.
  void giveUpInChild() {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int descriptor : descriptors)
      if (nothing < 0 || ::dup3(nothing, descriptor, O_CLOEXEC) < 0)
        ::close(descriptor);
    if (nothing >= 0)
      ::close(nothing);
    descriptors.clear();
    mutex.unlock();
  }

private:
  std::mutex mutex;
  std::set<int> descriptors;
};

/// The object is never destroyed, since contexts may outlive the objects of this library.
Sockets &sockets() {
  static Sockets *one = [] {
    auto *made = new Sockets;
    pthread_atfork([] { sockets().lockForFork(); }, [] { sockets().unlockAfterFork(); },
                   [] { sockets().giveUpInChild(); });
    return made;
  }();
  return *one;
}

} // namespace

std::string describe(const asio::ip::tcp::endpoint &endpoint) {
  std::ostringstream text;
  text << endpoint;
  return text.str();
}

void waitForAny(std::span<const Watch> watches, Clock::time_point deadline) {
  std::vector<pollfd> polls;
  for (const Watch &watch : watches)
    polls.push_back({watch.descriptor, short(POLLIN | (watch.isForWriting ? POLLOUT : 0)), 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  (void)::poll(polls.data(), polls.size(), left < 0 ? 0 : int(left));
}

Result<std::unique_ptr<Channel>> Channel::over(asio::ip::tcp::socket socket, const TlsContext *tls,
                                               bool isServer) {
  std::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  ssl_st *ssl = nullptr;
  if (tls) {
    Result<ssl_st *> attached = tls->attach(socket.native_handle(), isServer);
    if (!attached.ok())
      return attached.status();
    ssl = *attached;
  }
  sockets().add(socket.native_handle());
  return std::unique_ptr<Channel>(new Channel(std::move(socket), ssl));
}

Channel::~Channel() {
  SSL_free(ssl); // before the socket, which it uses
  sockets().remove(wire.native_handle());
}

int Channel::descriptor() const { return wire.native_handle(); }

Channel::Moved Channel::close(std::string why) {
  if (!closed)
    reason = std::move(why);
  closed = true;
  return {.bytes = 0, .isClosed = true};
}

Channel::Moved Channel::tlsResult(int result) {
  writing = false;
  if (result > 0)
    return {.bytes = uint64_t(result), .isClosed = false};
  switch (SSL_get_error(ssl, result)) {
  case SSL_ERROR_WANT_WRITE:
    writing = true;
    return {};
  case SSL_ERROR_WANT_READ:
    return {};
  default:
    return close(tlsReason());
  }
}

Channel::Moved Channel::read(std::span<const std::span<std::byte>> pieces) {
  if (closed)
    return {.bytes = 0, .isClosed = true};
  if (ssl) {
    ERR_clear_error();
    for (std::span<std::byte> piece : pieces)
      if (!piece.empty())
        return tlsResult(SSL_read(ssl, piece.data(), int(std::min<size_t>(piece.size(), 1 << 30))));
    return {};
  }
  std::array<asio::mutable_buffer, kMostPieces> buffers;
  size_t count = 0;
  for (std::span<std::byte> piece : pieces.first(std::min(pieces.size(), kMostPieces)))
    buffers[count++] = asio::buffer(piece.data(), piece.size());
  std::error_code error;
  const size_t bytes = wire.read_some(std::span(buffers).first(count), error);
  if (error == asio::error::would_block || error == asio::error::try_again ||
      error == asio::error::interrupted)
    return {};
  if (error)
    return close(error == asio::error::eof ? kClosed : formats::systemErrorText(error));
  return {.bytes = bytes, .isClosed = false};
}

Channel::Moved Channel::write(std::span<const std::span<const std::byte>> pieces) {
  if (closed)
    return {.bytes = 0, .isClosed = true};
  if (ssl) {
    ERR_clear_error();
    for (std::span<const std::byte> piece : pieces)
      if (!piece.empty())
        return tlsResult(SSL_write(ssl, piece.data(), int(std::min<size_t>(piece.size(), 1 << 30))));
    return {};
  }
  std::array<asio::const_buffer, kMostPieces> buffers;
  size_t count = 0;
  for (std::span<const std::byte> piece : pieces.first(std::min(pieces.size(), kMostPieces)))
    buffers[count++] = asio::buffer(piece.data(), piece.size());
  std::error_code error;
  const size_t bytes = wire.write_some(std::span(buffers).first(count), error);
  if (error == asio::error::would_block || error == asio::error::try_again ||
      error == asio::error::interrupted)
    return {};
  if (error)
    return close(formats::systemErrorText(error));
  return {.bytes = bytes, .isClosed = false};
}

/// Moves all bytes with `moveSome`. While nothing moves, it waits until another attempt can succeed.
template <typename Byte, typename MoveSome, typename IsWriting>
Status Channel::moveAll(std::span<Byte> bytes, Clock::time_point deadline, MoveSome moveSome,
                        IsWriting isWriting) {
  while (!bytes.empty()) {
    const Moved moved = moveSome(bytes);
    if (moved.isClosed)
      return Status(CGX_PEER_DIED, reason);
    bytes = bytes.subspan(moved.bytes);
    if (moved.bytes != 0)
      continue;
    if (Clock::now() >= deadline)
      return Status(CGX_TIMEOUT, kNoAnswer);
    const Watch watch{descriptor(), isWriting()};
    waitForAny({&watch, 1}, deadline);
  }
  return Status();
}

Status Channel::readAll(std::span<std::byte> bytes, Clock::time_point deadline) {
  return moveAll(
      bytes, deadline, [this](std::span<std::byte> left) { return read(left); }, [this] { return writing; });
}

Status Channel::writeAll(std::span<const std::byte> bytes, Clock::time_point deadline) {
  return moveAll(
      bytes, deadline, [this](std::span<const std::byte> left) { return write(left); }, [] { return true; });
}

Result<ControlMessage> Channel::hear(Clock::time_point deadline) {
  ControlReply awaited;
  if (Status status = awaited.await(*this, deadline); !status.ok())
    return status;
  return awaited.message();
}

} // namespace cgx::tcp
