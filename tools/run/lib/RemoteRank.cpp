//===-- RemoteRank.cpp - One rank of a job on several hosts ---*- C++ -*-===//
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
#include "cgx/run/OutcomeStream.h"

using namespace cgx::run;

std::vector<Outcome> cgx::run::runRemoteMember(const Job &job, uint32_t rank) {
  StopSignals signals;
  std::vector<Outcome> outcomes(job.manifest.ranks);
  for (Outcome &outcome : outcomes)
    outcome.error = "did not hand over its outcome";
  Outcome own = runRank(job, rank, stopSignal(), [&](cgx_context *context, const Outcome &outcome) {
    gatherOutcomes(job, context, rank, outcome, outcomes);
  });
  if (int signal = stopSignal(); signal != 0 && !own.error.empty())
    throw Interrupted{signal};
  if (!own.error.empty())
    throw Error("rank " + std::to_string(rank) + ": " + own.error);
  if (rank != 0) {
    outcomes[rank] = std::move(own);
    return outcomes;
  }
  endByRankErrors(job, outcomes, std::vector<bool>(outcomes.size()));
  return outcomes;
}
