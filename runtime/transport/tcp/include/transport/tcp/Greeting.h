//===-- transport/tcp/Greeting.h - What two ranks say first ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever connects is a guest, whoever accepts a host. The guest says hello, the host answers with its own
// hello and a proof that it knows the key, the guest proves the same:
//
//   guest  Hello                         ->
//          <-  Hello, HMAC(key, "host", both hellos)    host
//   guest  HMAC(key, "guest", both hellos)  ->
//
// Each hello has a nonce, so that no proof can be used twice. Messages have one length each: nothing that a
// stranger says decides how much is read or allocated. No bytes move here; Conversation.h moves them.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_GREETING_H
#define CGX_RUNTIME_TRANSPORT_TCP_GREETING_H

#include "status/Status.h"
#include "transport/tcp/Proof.h"

#include <cstdint>
#include <vector>

namespace cgx::tcp {

/// Where a rank listens, as it travels.
struct WireAddress {
  uint16_t family = 0; ///< 4 or 6; 0: nowhere
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
  uint32_t isComplete = 0; ///< of a host: all ranks have joined
  uint32_t connection = 0; ///< of a guest: which of those between the two
  uint32_t streams = 0;    ///< that long messages are spread over
  Bytes32 job{};           ///< digest of its name
  Bytes32 nonce{};
  WireAddress listens;
  uint32_t reserved = 0;
};
static_assert(sizeof(Hello) == 120, "ranks of different compilers read it");

class Greeting {
public:
  enum class Role { Guest, Host };

  Greeting(Role role, const Hello &own, const Bytes32 &key);

  /// What is to be written next, and what has been.
  std::span<const std::byte> outgoing() const { return std::span(out).subspan(written); }
  void sent(uint64_t bytes) { written += bytes; }
  /// Where the next bytes are to be read, and what was. An error: the peer is none of this job.
  std::span<std::byte> incoming() { return std::span(in).subspan(have); }
  Status received(uint64_t bytes);

  /// Both have proven themselves, as far as this side can see.
  bool isOver() const { return step == Step::Over && outgoing().empty(); }
  /// Whether the peer has said who it is, be that true or not.
  bool hasHeard() const { return step != Step::AwaitsHello; }
  /// What the peer said; to be believed when this is over.
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

#endif // CGX_RUNTIME_TRANSPORT_TCP_GREETING_H
