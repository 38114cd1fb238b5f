//===-- Threads.cpp - One thread per rank -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankErrors.h"
#include "StopSignals.h"
#include "cgx/run/Error.h"
#include "cgx/run/Launch.h"

#include <algorithm>
#include <future>
#include <system_error>
#include <thread>

using namespace cgx::run;

std::vector<Outcome> cgx::run::runThreads(const Job &job) {
  StopSignals signals;
  std::vector<Outcome> outcomes(job.manifest.ranks);
  {
    // No thread starts before all exist: it would wait for those that cannot be started.
    std::promise<bool> allStarted;
    const std::shared_future<bool> mayRun = allStarted.get_future().share();
    std::vector<std::jthread> threads;
    try {
      for (uint32_t rank = 0; rank < job.manifest.ranks; ++rank)
        threads.emplace_back([&, rank] {
          if (mayRun.get())
            outcomes[rank] = runRank(job, rank, stopSignal());
        });
    } catch (const std::system_error &error) {
      allStarted.set_value(false);
      throw Error(std::string("cannot start a thread for each rank: ") + error.what() + kLimitOfThreads);
    }
    allStarted.set_value(true);
  }
  const bool failed =
      std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome &o) { return !o.error.empty(); });
  if (int signal = stopSignal(); signal != 0 && failed)
    throw Interrupted{signal};
  endByRankErrors(job, outcomes, std::vector<bool>(outcomes.size()));
  return outcomes;
}
