//===-- LaunchedRank.cpp - One rank of a job started elsewhere --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks connect over a Unix socket in the abstract namespace: its name needs no common folder,
// and nothing is left behind when they die.
//
//===----------------------------------------------------------------------===//

#include "RankErrors.h"
#include "StopSignals.h"
#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"
#include "cgx/run/Launch.h"
#include "cgx/run/OutcomeStream.h"

#include "cgx/formats/SystemError.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
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

/// The variables in which a launcher tells a process its rank.
struct Launcher {
  const char *rank, *ranks;
  const char *localRanks; ///< the number of ranks on this host; null where the launcher does not give it
  /// Variables whose values together differ between two jobs on one host, and between a job and its restart.
  /// The first is always set.
  std::array<const char *, 3> job;
  /// Variables of which the first that is set tells apart the steps of a job, where several may run at a
  /// time. The tasks of one step have equal values.
  std::array<const char *, 4> step = {};
};
constexpr Launcher kLaunchers[] = {
    {"RANK",
     "WORLD_SIZE",
     "LOCAL_WORLD_SIZE",
     {"MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", {"PMIX_NAMESPACE"}},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", {"PMI_JOBID"}},
    {"SLURM_PROCID",
     "SLURM_NTASKS",
     nullptr,
     {"SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
     {"SLURM_STEP_ID", "SLURM_STEPID", "PMIX_NAMESPACE", "SLURM_STEP_LAUNCHER_PORT"}},
};

uint32_t parseVariable(const char *name) {
  std::string_view text = std::getenv(name);
  uint32_t value;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size())
    throw Error(std::string("expected ") + name + " to be a number, got '" + std::string(text) + "'");
  return value;
}

/// Makes a job name from the launcher's variables, with only the characters that a job name may have.
std::string jobName(const Launcher &launcher) {
  std::string name;
  for (const char *variable : launcher.job) {
    const char *value = variable ? std::getenv(variable) : nullptr;
    if (!value && variable == launcher.job[0])
      return "";
    if (value)
      name += (name.empty() ? "" : ".") + std::string(value);
  }
  for (const char *variable : launcher.step)
    if (const char *value = variable ? std::getenv(variable) : nullptr) {
      name += "-step." + std::string(value);
      break;
    }
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-')
      c = '_';
  return name;
}

[[noreturn]] void failSocket(const std::string &what) {
  throw Error(what + ": " + cgx::formats::systemErrorText(errno));
}

/// The address at which rank 0 collects the outcomes of the job.
struct Address {
  sockaddr_un name = {};
  socklen_t length;

  explicit Address(const Job &job) {
    // The first byte is zero, which selects the abstract namespace.
    std::string text = "cgx-run." + std::to_string(::getuid()) + "." + job.name;
    name.sun_family = AF_UNIX;
    if (constexpr size_t most = sizeof name.sun_path - 1;
        text.size() > most) { // the hash covers the part that is cut off as well
      char digest[18];
      std::snprintf(digest, sizeof digest, ".%016llx",
                    static_cast<unsigned long long>(hashBytes(std::as_bytes(std::span(text)))));
      text.resize(most - 17);
      text += digest;
    }
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

/// Returns true if a process of this user is at the other end: any user of the host may connect to an
/// abstract address, or take it first.
bool isOwnUser(const Descriptor &socket, uid_t &other) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  bool known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  other = peer.uid;
  return known && peer.uid == ::geteuid();
}

Descriptor listenAsFirst(const Job &job) {
  Address address(job);
  Descriptor socket = openSocket();
  if (::bind(socket.get(), address.get(), address.length) != 0 && errno == EADDRINUSE)
    throw Error("another job on this host is called '" + job.name +
                "', or another user has taken its address: give each its own name with --job");
  // Each other rank connects twice: to check who owns the address, and with its outcome.
  if (::listen(socket.get(), static_cast<int>(2 * job.manifest.ranks)) != 0)
    failSocket("cannot listen for the other ranks");
  return socket;
}

/// Connects to rank 0. The result is not open, with errno set, when no process listens.
Descriptor connectToFirst(const Job &job, const std::string &what) {
  Address address(job);
  Descriptor socket = openSocket();
  if (::connect(socket.get(), address.get(), address.length) != 0)
    return Descriptor();
  if (uid_t other; !isOwnUser(socket, other))
    throw Error(what + ": its address is taken by a process of user " + std::to_string(other) +
                ": give the job another name with --job");
  return socket;
}

/// Throws Error if another user's process listens in place of rank 0, before this rank waits for it. It is no
/// error if rank 0 is not there yet.
void expectOwnFirst(const Job &job, uint32_t rank) {
  connectToFirst(job, "rank " + std::to_string(rank) + " cannot join rank 0");
}

/// Sends the outcome to rank 0, which listens before it joins the job and so is there when others connect.
void sendToFirst(const Job &job, uint32_t rank, const Outcome &outcome) {
  const std::string what = "cannot hand the outcome of rank " + std::to_string(rank) + " to rank 0";
  Descriptor socket = connectToFirst(job, what);
  if (!socket.isOpen())
    failSocket(what);
  if (!sendOutcome(socket.get(), rank, outcome))
    failSocket(what);
}

/// Waits until the deadline for the outcomes of all ranks except the first.
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
      if (current->reader.isEmpty()) { // it only checked who owns the address
        peers.erase(current);
        continue;
      }
      try {
        auto [rank, outcome] = current->reader.take(job);
        if (rank > 0 && !have[rank]) {
          have[rank] = true;
          outcomes[rank] = std::move(outcome);
          --missing;
        }
      } catch (const Error &error) { // the sender is unknown; its rank will be reported as missing
        std::fprintf(stderr, "cgx-run: warning: an outcome that was handed over %s\n", error.what());
      }
      peers.erase(current);
    }
    if (polls[0].revents & POLLIN) {
      Peer peer{Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)), {}};
      if (uid_t other; peer.socket.isOpen() && isOwnUser(peer.socket, other))
        peers.push_back(std::move(peer));
    }
  }
  for (size_t rank = 1; rank < outcomes.size(); ++rank)
    if (!have[rank])
      outcomes[rank].error =
          "did not hand over its outcome within " + std::to_string(job.timeoutMs / 1000) + " s";
}

} // namespace

std::optional<LaunchedRank> cgx::run::findMembership() {
  for (const Launcher &launcher : kLaunchers) {
    if (!std::getenv(launcher.rank) || !std::getenv(launcher.ranks))
      continue;
    LaunchedRank found{parseVariable(launcher.rank), parseVariable(launcher.ranks), launcher.rank, {}, {}};
    if (found.rank >= found.ranks)
      throw Error(std::string("expected ") + launcher.rank + " to be below " + launcher.ranks + "=" +
                  std::to_string(found.ranks) + ", got " + std::to_string(found.rank));
    if (launcher.localRanks && std::getenv(launcher.localRanks))
      found.localRanks = parseVariable(launcher.localRanks);
    found.jobName = jobName(launcher);
    return found;
  }
  return std::nullopt;
}

std::vector<Outcome> cgx::run::runMember(const Job &job, uint32_t rank) {
  StopSignals signals;
  Descriptor listener;
  if (rank == 0)
    listener = listenAsFirst(job);
  else
    expectOwnFirst(job, rank);
  std::vector<Outcome> outcomes(job.manifest.ranks);
  outcomes[rank] = runRank(job, rank, stopSignal());
  if (int signal = stopSignal(); signal != 0 && !outcomes[rank].error.empty())
    throw Interrupted{signal};
  if (!outcomes[rank].error.empty())
    throw Error("rank " + std::to_string(rank) + ": " + outcomes[rank].error);
  if (rank != 0) {
    sendToFirst(job, rank, outcomes[rank]);
    return outcomes;
  }
  collect(job, listener, outcomes);
  endByRankErrors(job, outcomes, std::vector<bool>(outcomes.size()));
  return outcomes;
}
