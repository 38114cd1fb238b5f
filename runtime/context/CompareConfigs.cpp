//===-- context/CompareConfigs.cpp - Checks that all ranks run the same program -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "context/CompareConfigs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace cgx {

namespace {

/// The message that each rank sends to all others.
struct Hello {
  uint32_t abiVersion;
  uint32_t ranks;
  uint64_t seed;
  uint64_t digest;     ///< digest of the collectives
  uint64_t hostDigest; ///< digest of the host program's own data
  std::array<char, 64> hash;
};

constexpr uint32_t kConfigCollective = 0xffffffff;

std::string hex(uint64_t value) {
  std::ostringstream stream;
  stream << std::hex << value;
  return std::move(stream).str();
}

std::string hashOf(const Hello &hello) {
  return {hello.hash.data(), strnlen(hello.hash.data(), hello.hash.size())};
}

} // namespace

/// Returns text such as "seed: 1 on rank 0, 2; 7 on rank 1"; "" if all are equal.
template <typename Describe>
static std::string difference(const char *what, const std::vector<Hello> &hellos, Describe describe) {
  std::map<std::string, std::string> holders;
  for (uint32_t rank = 0; rank < hellos.size(); ++rank) {
    std::string &ranks = holders[describe(hellos[rank])];
    ranks += concat(ranks.empty() ? "" : ", ", rank);
  }
  if (holders.size() == 1)
    return "";
  std::string text = concat(what, ": ");
  for (const auto &[value, ranks] : holders)
    text += concat(text.back() == ' ' ? "" : "; ", value, " on rank ", ranks);
  return text;
}

static Status compare(const std::vector<Hello> &hellos) {
  std::string differences;
  auto add = [&](const std::string &text) {
    if (!text.empty())
      differences += (differences.empty() ? "" : "; ") + text;
  };
  add(difference("ABI version", hellos, [](const Hello &hello) { return std::to_string(hello.abiVersion); }));
  add(difference("number of ranks", hellos, [](const Hello &hello) { return std::to_string(hello.ranks); }));
  add(difference("seed", hellos, [](const Hello &hello) { return std::to_string(hello.seed); }));
  add(difference("options or data", hellos, [](const Hello &hello) { return hex(hello.hostDigest); }));
  add(difference("program hash", hellos, [](const Hello &hello) { return "'" + hashOf(hello) + "'"; }));
  // If programs of one hash differ in their collectives, a manifest was edited by hand.
  add(difference("collectives in the manifest", hellos,
                 [](const Hello &hello) { return hex(hello.digest); }));
  return differences.empty() ? Status() : Status(CGX_MISMATCH, "ranks differ in " + differences);
}

Status compareConfigs(Transport &transport, std::chrono::milliseconds timeout, const RankConfig &config,
                      const Program &program) {
  std::vector<Hello> hellos(transport.ranks());
  Hello &own = hellos[transport.rank()];
  own = {.abiVersion = config.abiVersion,
         .ranks = transport.ranks(),
         .seed = config.seed,
         .digest = program.digest,
         .hostDigest = config.digest,
         .hash = {}};
  std::memcpy(own.hash.data(), program.hash.data(), std::min(program.hash.size(), own.hash.size()));
  MessageBatch exchange(transport, timeout);
  Tag tag{.step = 0, .collective = kConfigCollective, .phase = 0, .part = 0};
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank) {
    if (rank == transport.rank())
      continue;
    exchange.receive(rank, tag, {std::as_writable_bytes(std::span(&hellos[rank], 1))});
    exchange.send(rank, tag, {std::as_bytes(std::span(&own, 1))});
  }
  if (Status status = exchange.finish(); !status.ok())
    return status;
  return compare(hellos);
}

} // namespace cgx
