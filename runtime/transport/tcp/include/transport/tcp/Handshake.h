//===-- transport/tcp/Handshake.h - Mutual authentication of two ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handshake proves that two ranks know the key of one job. The client, which connected, sends a hello; the
// server answers with its own hello and a proof that it knows the key; the client proves the same:
//
//   client  Hello                         ->
//          <-  Hello, HMAC(key, "host", both hellos)    host
//   client  HMAC(key, "guest", both hellos)  ->
//
// Each hello has a nonce, so that no proof can be used twice. Each message has a fixed length: nothing that a
// stranger sends decides how much is read or allocated. This class moves no bytes; PendingConnection.h does.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_HANDSHAKE_H
#define CGX_RUNTIME_TRANSPORT_TCP_HANDSHAKE_H

#include "status/Status.h"
#include "transport/tcp/Hmac.h"

#include <cstdint>
#include <vector>

namespace cgx::tcp {

/// The address at which a rank listens, in the form in which it is sent.
struct WireAddress {
  uint16_t family = 0; ///< 4 or 6; 0: it does not listen
  uint16_t port = 0;
  std::array<uint8_t, 16> bytes{};
};

struct Hello {
  static constexpr uint64_t kMagic = 0x3150435443584743; // "CGXCTCP1"
  static constexpr uint32_t kVersion = 1;

  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t rank = 0;
  uint32_t ranks = 0;
  uint32_t isComplete = 0; ///< from a server: all ranks have joined
  uint32_t connection = 0; ///< from a client: the index of this connection between the two ranks
  uint32_t streams = 0;    ///< streams over which long messages are spread
  Bytes32 job{};           ///< digest of the job's name
  Bytes32 nonce{};
  WireAddress listens;
  uint32_t reserved = 0;
};
static_assert(sizeof(Hello) == 120, "ranks of different compilers read it");

class Handshake {
public:
  enum class Role { Client, Server };

  Handshake(Role role, const Hello &own, const Bytes32 &key);

  /// Returns the bytes to be written next; sent() records how many were.
  std::span<const std::byte> outgoing() const { return std::span(out).subspan(written); }
  void sent(uint64_t bytes) { written += bytes; }
  /// Returns the memory for the next bytes; received() records how many arrived, and returns an error if the
  /// peer does not belong to this job.
  std::span<std::byte> incoming() { return std::span(in).subspan(have); }
  Status received(uint64_t bytes);

  /// Returns true if both sides are authenticated, as far as this side can see.
  bool isOver() const { return step == Step::Over && outgoing().empty(); }
  /// Returns true if the peer has sent its hello, which may be false.
  bool hasHeard() const { return step != Step::AwaitsHello; }
  /// Returns the peer's hello, which can be trusted when isOver().
  const Hello &peer() const { return other; }

private:
  enum class Step { AwaitsHello, AwaitsProof, Over };

  Status readHello();
  Status checkProof(std::string_view label);
  Bytes32 proof(std::string_view label) const;
  void await(Step next, uint64_t bytes);

  Role role;
  Hello own, other;
  Bytes32 key;
  Step step = Step::AwaitsHello;
  std::vector<std::byte> in, out;
  uint64_t have = 0, written = 0;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_HANDSHAKE_H
