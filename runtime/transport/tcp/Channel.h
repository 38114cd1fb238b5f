//===-- transport/tcp/Channel.h - A connection between two ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A socket of Asio, with or without TLS, whose calls never wait. Code that must wait calls poll(2) for the
// descriptors of all channels at once.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_CHANNEL_H
#define CGX_RUNTIME_TRANSPORT_TCP_CHANNEL_H

#include "Tls.h"
#include "transport/tcp/ControlMessage.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <optional>

namespace cgx::tcp {

using Clock = std::chrono::steady_clock;

class Channel {
public:
  /// Takes a connected socket.
  static Result<std::unique_ptr<Channel>> over(asio::ip::tcp::socket socket, const TlsContext *tls,
                                               bool isServer);
  ~Channel();
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  /// The number of bytes that were moved. If it is 0 and the channel is not closed, none can be moved now.
  struct Moved {
    uint64_t bytes = 0;
    bool isClosed = false;
  };
  Moved read(std::span<const std::span<std::byte>> pieces);
  Moved read(std::span<std::byte> bytes) { return read(std::span(&bytes, 1)); }
  Moved write(std::span<const std::span<const std::byte>> pieces);
  Moved write(std::span<const std::byte> bytes) { return write(std::span(&bytes, 1)); }

  /// Moves all bytes, waiting until the deadline at most. Only the rendezvous uses these calls.
  Status readAll(std::span<std::byte> bytes, Clock::time_point deadline);
  Status writeAll(std::span<const std::byte> bytes, Clock::time_point deadline);
  Status tell(const ControlMessage &message, Clock::time_point deadline) {
    return writeAll(encode(message), deadline);
  }
  /// Waits for a control message. Returns an error if it says that the peer has failed.
  Result<ControlMessage> hear(Clock::time_point deadline);

  int descriptor() const;
  bool isClosed() const { return closed; }
  /// Returns the reason of the closing, if known.
  const std::string &whyClosed() const { return reason; }
  bool hasTls() const { return ssl; }
  /// Returns true if TLS must write before it can read.
  bool wantsToWrite() const { return writing; }
  const asio::ip::tcp::socket &socket() const { return wire; }

private:
  Channel(asio::ip::tcp::socket socket, ssl_st *ssl) : wire(std::move(socket)), ssl(ssl) {}
  Moved tlsResult(int result);
  template <typename Byte, typename MoveSome, typename IsWriting>
  Status moveAll(std::span<Byte> bytes, Clock::time_point deadline, MoveSome moveSome, IsWriting isWriting);
  Moved close(std::string why);

  mutable asio::ip::tcp::socket wire;
  ssl_st *ssl;
  bool closed = false, writing = false;
  std::string reason;
};

/// The message for a peer from which nothing arrived in time, without its name.
inline constexpr char kNoAnswer[] = "did not answer in time";

/// Waits until one of the descriptors can be read, or those with `isForWriting` written, or until the
/// deadline.
struct Watch {
  int descriptor;
  bool isForWriting;
};
void waitForAny(std::span<const Watch> watches, Clock::time_point deadline);

/// Returns the endpoint as text, such as "127.0.0.1:29500".
std::string describe(const asio::ip::tcp::endpoint &endpoint);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_CHANNEL_H
