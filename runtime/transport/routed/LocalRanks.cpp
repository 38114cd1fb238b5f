//===-- routed/LocalRanks.cpp - The ranks of one host ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/routed/LocalRanks.h"

#include "status/Digest.h"
#include "transport/MessageBatch.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace cgx {

/// An id above those of collectives, and different from that of the configuration check.
static constexpr uint32_t kHostsCollective = 0xfffffffd;

uint64_t hostKey() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  std::string boot; // cloned machines have everything else in common
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network{}, memory{};
  (void)stat("/proc/self/ns/net", &network);
  (void)stat("/dev/shm", &memory);
  const char *given = std::getenv("CGX_HOST");
  return digestOf(
      concat(given ? given : "", "/", name.data(), "/", boot, "/", network.st_ino, "/", memory.st_dev));
}

namespace {

/// The message of each rank to the others.
struct Hello {
  uint64_t host;
  uint64_t nonce; ///< differs between jobs
};

} // namespace

Result<LocalRanks> findLocalRanks(Transport &transport, std::chrono::milliseconds timeout) {
  std::vector<Hello> hellos(transport.ranks());
  Hello &own = hellos[transport.rank()];
  own = {.host = hostKey(),
         .nonce = uint64_t(Clock::now().time_since_epoch().count()) * 65536 + uint64_t(getpid()) % 65536};
  MessageBatch exchange(transport, timeout);
  Tag tag{.step = 0, .collective = kHostsCollective, .phase = 0, .part = 0};
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank)
    if (rank != transport.rank()) {
      exchange.receive(rank, tag, {std::as_writable_bytes(std::span(&hellos[rank], 1))});
      exchange.send(rank, tag, {std::as_bytes(std::span(&own, 1))});
    }
  if (Status status = exchange.finish(); !status.ok())
    return status;
  LocalRanks local;
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank)
    if (hellos[rank].host == own.host)
      local.ranks.push_back(rank);
  local.nonce = hellos[local.ranks.front()].nonce;
  return local;
}

} // namespace cgx
