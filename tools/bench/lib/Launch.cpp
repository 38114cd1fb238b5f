//===-- Launch.cpp - Starting the ranks of a benchmark ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Bench.h"

#include "cgx/Cli/TcpOptions.h"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cgx::bench {

std::optional<Membership> findMembership() {
  const char *rank = std::getenv("OMPI_COMM_WORLD_RANK"), *ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), *job = std::getenv("PMIX_NAMESPACE");
  if (!rank || !ranks)
    return std::nullopt;
  return Membership{static_cast<uint32_t>(std::stoul(rank)), static_cast<uint32_t>(std::stoul(ranks)),
                    static_cast<uint32_t>(local ? std::stoul(local) : 1),
                    std::string("bench-") + (job ? job : "mpi")};
}

uint32_t rankOnHost(uint32_t rank) {
  const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  return local ? static_cast<uint32_t>(std::stoul(local)) : rank;
}

Launch makeLaunch(std::optional<uint32_t> ranks, const std::optional<std::string> &transport) {
  Launch launch;
  launch.member = findMembership();
  const std::optional<Membership> &member = launch.member;
  if (member && ranks && *ranks != member->ranks)
    throw Error("expected --ranks to be " + std::to_string(member->ranks) +
                ", as mpirun started, or to be left out, got " + std::to_string(*ranks));
  launch.ranks = member ? member->ranks : ranks.value_or(2);
  launch.transport = transport.value_or(member ? "mpi" : "shm");
  if (!member && launch.transport.ends_with("mpi"))
    throw Error("expected mpirun to start the ranks of --transport " + launch.transport +
                ": mpirun -np 2 cgx-bench ...");
  if (member && launch.transport == "inproc")
    throw Error("expected --transport shm or mpi under mpirun, got inproc");
  launch.job = member ? member->job : "bench-" + std::to_string(::getpid());
  return launch;
}

static void runThreads(uint32_t ranks, const RankBody &body) {
  std::vector<std::string> errors(ranks);
  {
    std::vector<std::jthread> threads;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        try {
          body(rank);
        } catch (const std::exception &error) {
          errors[rank] = error.what();
        }
      });
  }
  for (uint32_t rank = 0; rank < ranks; ++rank)
    if (!errors[rank].empty())
      throw Error("rank " + std::to_string(rank) + ": " + errors[rank]);
}

static void runProcesses(uint32_t ranks, const RankBody &body) {
  std::vector<pid_t> children;
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    pid_t child = ::fork();
    if (child < 0)
      throw Error("cannot start rank " + std::to_string(rank));
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    try {
      body(rank);
      std::_Exit(0);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "cgx-bench: rank %u: %s\n", rank, error.what());
      std::_Exit(1);
    }
  }
  body(0);
  for (size_t i = 0; i < children.size(); ++i) {
    int status = 0;
    ::waitpid(children[i], &status, 0);
    if (status != 0)
      throw Error("rank " + std::to_string(i + 1) + " failed");
  }
}

void runRanks(const Launch &launch, const RankBody &body) {
  if (launch.member)
    body(launch.member->rank);
  else if (launch.transport == "inproc")
    runThreads(launch.ranks, body);
  else {
    std::optional<cli::OwnRendezvous> rendezvous;
    if (cli::meetsOverTcp(launch.transport))
      rendezvous.emplace();
    runProcesses(launch.ranks, body);
  }
}

} // namespace cgx::bench
