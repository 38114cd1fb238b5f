//===-- Member.cpp - One rank of a job started elsewhere --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks meet over a Unix socket in the abstract namespace: its name needs no
// folder that they share, and nothing is left behind when they die.
//
//===----------------------------------------------------------------------===//

#include "RankErrors.h"
#include "StopSignals.h"
#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"
#include "cgx/run/Launch.h"
#include "cgx/run/OutcomeStream.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <list>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace cgx::run;

namespace {

using Clock = std::chrono::steady_clock;

/// The variables in which launchers tell a process its place.
struct Launcher {
  const char *rank, *ranks;
  const char *localRanks; ///< on this host; null where the launcher does not say
  const char *job;        ///< differs between two jobs on one host
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_PORT"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_NTASKS", nullptr, "SLURM_JOB_ID"},
};

uint32_t parseVariable(const char *name) {
  std::string_view text = std::getenv(name);
  uint32_t value;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size())
    throw Error(std::string("expected ") + name + " to be a number, got '" + std::string(text) + "'");
  return value;
}

[[noreturn]] void failSocket(const std::string &what) { throw Error(what + ": " + std::strerror(errno)); }

/// The address at which rank 0 collects the outcomes of the job.
struct Address {
  sockaddr_un name = {};
  socklen_t length;

  explicit Address(const Job &job) {
    // The first byte is zero: the abstract namespace.
    std::string text = "cgx-run." + std::to_string(::getuid()) + "." + job.name;
    name.sun_family = AF_UNIX;
    text.resize(std::min(text.size(), sizeof name.sun_path - 1));
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

Descriptor openSocket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.isOpen())
    failSocket("cannot create a socket");
  return socket;
}

Descriptor listenAsFirst(const Job &job) {
  Address address(job);
  Descriptor socket = openSocket();
  if (::bind(socket.get(), address.get(), address.length) != 0 && errno == EADDRINUSE)
    throw Error("another job on this host is called '" + job.name + "': give each its own name with --job");
  if (::listen(socket.get(), static_cast<int>(job.manifest.ranks)) != 0)
    failSocket("cannot listen for the other ranks");
  return socket;
}

/// Rank 0 listens before it joins the job, so it is there when others come.
void sendToFirst(const Job &job, uint32_t rank, const Outcome &outcome) {
  Address address(job);
  Descriptor socket = openSocket();
  if (::connect(socket.get(), address.get(), address.length) != 0 ||
      !sendOutcome(socket.get(), rank, outcome))
    failSocket("cannot hand the outcome of rank " + std::to_string(rank) + " to rank 0");
}

/// Waits for the outcomes of the ranks but the first, until the deadline.
void collect(const Job &job, const Descriptor &listener, std::vector<Outcome> &outcomes) {
  struct Peer {
    Descriptor socket;
    OutcomeReader reader;
  };
  std::list<Peer> peers;
  std::vector<bool> have(outcomes.size());
  size_t missing = outcomes.size() - 1;
  Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(job.timeoutMs);
  while (missing > 0 && Clock::now() < deadline) {
    std::vector<pollfd> polls = {{listener.get(), POLLIN, 0}};
    for (Peer &peer : peers)
      polls.push_back({peer.socket.get(), POLLIN, 0});
    if (::poll(polls.data(), polls.size(), /*timeout=*/200) <= 0)
      continue;
    auto peer = peers.begin();
    for (size_t i = 1; i < polls.size(); ++i) {
      auto current = peer++;
      if (polls[i].revents == 0 || current->reader.read(polls[i].fd))
        continue;
      auto outcome = current->reader.take();
      if (outcome && outcome->first > 0 && outcome->first < outcomes.size() && !have[outcome->first]) {
        have[outcome->first] = true;
        outcomes[outcome->first] = std::move(outcome->second);
        --missing;
      }
      peers.erase(current);
    }
    if (polls[0].revents & POLLIN)
      peers.push_back({Descriptor(::accept(listener.get(), nullptr, nullptr)), {}});
  }
  for (size_t rank = 1; rank < outcomes.size(); ++rank)
    if (!have[rank])
      outcomes[rank].error =
          "did not hand over its outcome within " + std::to_string(job.timeoutMs / 1000) + " s";
}

} // namespace

std::optional<Membership> cgx::run::findMembership() {
  for (const Launcher &launcher : kLaunchers) {
    if (!std::getenv(launcher.rank) || !std::getenv(launcher.ranks))
      continue;
    Membership found{parseVariable(launcher.rank), parseVariable(launcher.ranks), launcher.rank, {}, {}};
    if (found.rank >= found.ranks)
      throw Error(std::string("expected ") + launcher.rank + " to be below " + launcher.ranks + "=" +
                  std::to_string(found.ranks) + ", got " + std::to_string(found.rank));
    if (launcher.localRanks && std::getenv(launcher.localRanks))
      found.localRanks = parseVariable(launcher.localRanks);
    if (const char *job = std::getenv(launcher.job))
      found.jobName = job;
    return found;
  }
  return std::nullopt;
}

std::vector<Outcome> cgx::run::runMember(const Job &job, uint32_t rank) {
  StopSignals signals;
  Descriptor listener;
  if (rank == 0)
    listener = listenAsFirst(job);
  std::vector<Outcome> outcomes(job.manifest.ranks);
  outcomes[rank] = runRank(job, rank, stopSignal());
  if (int signal = stopSignal())
    throw Interrupted{signal};
  if (!outcomes[rank].error.empty())
    throw Error("rank " + std::to_string(rank) + ": " + outcomes[rank].error);
  if (rank != 0) {
    sendToFirst(job, rank, outcomes[rank]);
    return {};
  }
  collect(job, listener, outcomes);
  throwRankErrors(outcomes, std::vector<bool>(outcomes.size()));
  return outcomes;
}
