//===-- transport/tcp/Channel.h - A connection between two ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A socket of Asio, in TLS or not, whose calls never wait. Who has to wait asks poll(2) about the descriptors
// of all channels at once.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_CHANNEL_H
#define CGX_RUNTIME_TRANSPORT_TCP_CHANNEL_H

#include "Tls.h"
#include "transport/tcp/Note.h"

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

  /// Bytes that were moved. None, and not closed: none can be moved now.
  struct Moved {
    uint64_t bytes = 0;
    bool isClosed = false;
  };
  Moved read(std::span<const std::span<std::byte>> pieces);
  Moved read(std::span<std::byte> bytes) { return read(std::span(&bytes, 1)); }
  Moved write(std::span<const std::span<const std::byte>> pieces);
  Moved write(std::span<const std::byte> bytes) { return write(std::span(&bytes, 1)); }

  /// The same until all is done, or the deadline. For what ranks say while they come together.
  Status readAll(std::span<std::byte> bytes, Clock::time_point deadline);
  Status writeAll(std::span<const std::byte> bytes, Clock::time_point deadline);
  Status tell(const Note &note, Clock::time_point deadline) { return writeAll(encode(note), deadline); }
  /// An error where it says that the peer has failed.
  Result<Note> hear(Clock::time_point deadline);

  int descriptor() const;
  bool isClosed() const { return closed; }
  /// Why, where that is known.
  const std::string &whyClosed() const { return reason; }
  bool hasTls() const { return ssl; }
  /// TLS has to write before anything can be read.
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

/// What is said, without a name, of a peer of which nothing came in time.
inline constexpr char kNoAnswer[] = "did not answer in time";

/// Waits until one of the descriptors can be read, or those of `writing` written, or the time has come.
struct Watch {
  int descriptor;
  bool isForWriting;
};
void waitForAny(std::span<const Watch> watches, Clock::time_point deadline);

/// "127.0.0.1:29500".
std::string describe(const asio::ip::tcp::endpoint &endpoint);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_CHANNEL_H
