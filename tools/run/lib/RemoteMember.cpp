//===-- RemoteMember.cpp - One rank of a job on several hosts ---*- C++ -*-===//
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

static void takeOutcome(void *user, uint32_t, const void *data, uint64_t bytes) {
  OutcomeReader reader;
  reader.append({static_cast<const std::byte *>(data), bytes});
  auto &outcomes = *static_cast<std::vector<Outcome> *>(user);
  if (auto outcome = reader.take(); outcome && outcome->first < outcomes.size())
    outcomes[outcome->first] = std::move(outcome->second);
}

std::vector<Outcome> cgx::run::runRemoteMember(const Job &job, uint32_t rank) {
  StopSignals signals;
  std::vector<Outcome> outcomes(job.manifest.ranks);
  for (Outcome &outcome : outcomes)
    outcome.error = "did not hand over its outcome";
  Outcome own = runRank(job, rank, stopSignal(), [&](cgx_context *context, const Outcome &outcome) {
    std::vector<std::byte> bytes = packOutcome(rank, outcome);
    if (cgx_status status = cgx_context_gather(context, bytes.data(), bytes.size(), takeOutcome, &outcomes);
        status != CGX_OK)
      throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
  });
  if (int signal = stopSignal())
    throw Interrupted{signal};
  if (!own.error.empty())
    throw Error("rank " + std::to_string(rank) + ": " + own.error);
  if (rank != 0)
    return {};
  throwRankErrors(outcomes, std::vector<bool>(outcomes.size()));
  return outcomes;
}
