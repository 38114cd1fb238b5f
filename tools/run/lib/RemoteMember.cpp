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

namespace {

/// Where outcomes arrive.
struct Collection {
  const Job &job;
  std::vector<Outcome> outcomes;
};

void takeOutcome(void *user, uint32_t rank, const void *data, uint64_t bytes) {
  auto &[job, outcomes] = *static_cast<Collection *>(user);
  OutcomeReader reader;
  reader.append({static_cast<const std::byte *>(data), bytes});
  try {
    auto [sender, outcome] = reader.take(job);
    if (sender != rank)
      throw Error("is of rank " + std::to_string(sender));
    outcomes[rank] = std::move(outcome);
  } catch (const Error &error) {
    outcomes[rank].error = std::string("handed over an outcome that ") + error.what();
  }
}

} // namespace

std::vector<Outcome> cgx::run::runRemoteMember(const Job &job, uint32_t rank) {
  StopSignals signals;
  Collection collection{job, std::vector<Outcome>(job.manifest.ranks)};
  for (Outcome &outcome : collection.outcomes)
    outcome.error = "did not hand over its outcome";
  Outcome own = runRank(job, rank, stopSignal(), [&](cgx_context *context, const Outcome &outcome) {
    std::vector<std::byte> bytes = packOutcome(rank, outcome);
    if (cgx_status status = cgx_context_gather(context, bytes.data(), bytes.size(), takeOutcome, &collection);
        status != CGX_OK)
      throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
  });
  if (int signal = stopSignal())
    throw Interrupted{signal};
  if (!own.error.empty())
    throw Error("rank " + std::to_string(rank) + ": " + own.error);
  if (rank != 0)
    return {};
  throwRankErrors(collection.outcomes, std::vector<bool>(collection.outcomes.size()));
  return std::move(collection.outcomes);
}
