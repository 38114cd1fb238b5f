//===-- RankErrors.cpp - Errors of ranks, the cause first -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankErrors.h"

#include "cgx/run/Error.h"
#include "cgx/runtime.h"

#include <algorithm>
#include <filesystem>

using namespace cgx::run;

static bool isAbout(const std::string &error, cgx_status status) {
  return error.starts_with(std::string(cgx_status_name(status)) + ": ");
}

void cgx::run::throwRankErrors(const std::vector<Outcome> &outcomes, const std::vector<bool> &dead) {
  // Each line is a message and the ranks that report it: first the ranks that died, then those that report
  // the cause, then those that only saw others fail.
  std::vector<std::pair<std::string, std::string>> lines; // message, ranks
  for (int turn : {0, 1, 2})
    for (size_t rank = 0; rank < outcomes.size(); ++rank) {
      const std::string &error = outcomes[rank].error;
      const bool isOfOthers = isAbout(error, CGX_PEER_DIED) || isAbout(error, CGX_TIMEOUT);
      if (error.empty() || turn != (dead[rank] ? 0 : isOfOthers ? 2 : 1))
        continue;
      auto line =
          std::find_if(lines.begin(), lines.end(), [&](const auto &each) { return each.first == error; });
      if (line == lines.end())
        lines.emplace_back(error, std::to_string(rank));
      else
        line->second += ", " + std::to_string(rank);
    }
  if (lines.empty())
    return;
  std::string text;
  for (const auto &[error, ranks] : lines)
    text += (text.empty() ? "" : "\n  ") +
            std::string(ranks.find(',') == std::string::npos ? "rank " : "ranks ") + ranks + ": " + error;
  throw Error(text);
}

void cgx::run::endByRankErrors(const Job &job, const std::vector<Outcome> &outcomes,
                               const std::vector<bool> &dead) {
  try {
    throwRankErrors(outcomes, dead);
  } catch (const Error &error) {
    uint64_t done = 0; // steps of the rank that got furthest; a rank that died reports none
    for (const Outcome &outcome : outcomes)
      done = std::max(done, outcome.steps);
    if (done == 0)
      throw;
    const uint64_t last = job.firstStep + done;
    std::string text = error.what() + std::string("\n  after ") + std::to_string(last) + " of " +
                       std::to_string(job.firstStep + job.steps) + " steps";
    std::error_code none;
    const uint64_t every = job.saving.every;
    if (every != 0 && last / every > job.firstStep / every && std::filesystem::exists(job.saving.path, none))
      text += "; --resume " + job.saving.path + " goes on from the last checkpoint";
    throw Error(text);
  }
}
