//===-- transport/tcp/Handshake.cpp - Mutual authentication of two ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/Handshake.h"

#include <cstring>

namespace cgx::tcp {

static std::span<const std::byte> bytesOf(const Hello &hello) { return std::as_bytes(std::span(&hello, 1)); }

Handshake::Handshake(Role role, const Hello &own, const Bytes32 &key) : role(role), own(own), key(key) {
  this->own.nonce = randomBytes();
  if (role == Role::Client)
    out.assign(bytesOf(this->own).begin(), bytesOf(this->own).end());
  // A server answers with its hello and its proof; a client begins with the hello alone.
  await(Step::AwaitsHello, sizeof(Hello) + (role == Role::Client ? sizeof(Bytes32) : 0));
}

void Handshake::await(Step next, uint64_t bytes) {
  step = next;
  in.assign(bytes, std::byte(0));
  have = 0;
}

Bytes32 Handshake::proof(std::string_view label) const {
  const Hello &client = role == Role::Client ? own : other, &host = role == Role::Client ? other : own;
  return authenticate(key, label, {bytesOf(client), bytesOf(host)});
}

Status Handshake::received(uint64_t bytes) {
  have += bytes;
  if (step == Step::Over || have < in.size())
    return Status();
  if (step == Step::AwaitsProof) {
    Status status = checkProof("cgx tcp guest");
    await(Step::Over, 0);
    return status;
  }
  if (Status status = readHello(); !status.ok())
    return status;
  if (role == Role::Server) {
    out.assign(bytesOf(own).begin(), bytesOf(own).end());
    const Bytes32 own = proof("cgx tcp host");
    out.insert(out.end(), own.begin(), own.end());
    written = 0;
    await(Step::AwaitsProof, sizeof(Bytes32));
    return Status();
  }
  std::memmove(in.data(), in.data() + sizeof(Hello), sizeof(Bytes32));
  if (Status status = checkProof("cgx tcp host"); !status.ok())
    return status;
  const Bytes32 own = proof("cgx tcp guest");
  out.assign(own.begin(), own.end());
  written = 0;
  await(Step::Over, 0);
  return Status();
}

Status Handshake::readHello() {
  std::memcpy(&other, in.data(), sizeof other);
  if (other.magic != Hello::kMagic)
    return Status(CGX_MISMATCH, "is no rank of cgx");
  if (other.version != Hello::kVersion)
    return Status::error(CGX_MISMATCH, "speaks version ", other.version, " of the protocol, expected ",
                         Hello::kVersion, ": all ranks need one build of cgx");
  // A server answers nevertheless, so that the client learns of it as well.
  if (other.job != own.job && role == Role::Client)
    return Status(CGX_MISMATCH, "is a rank of another job");
  return Status();
}

Status Handshake::checkProof(std::string_view label) {
  Bytes32 given;
  std::memcpy(given.data(), in.data(), given.size());
  if (other.job != own.job)
    return Status(CGX_MISMATCH, "is a rank of another job");
  if (areEqual(given, proof(label)))
    return Status();
  if (other.isComplete && !own.isComplete)
    return Status(CGX_MISMATCH, "has a job that is complete without this rank");
  return Status(CGX_MISMATCH, "has another secret");
}

} // namespace cgx::tcp
