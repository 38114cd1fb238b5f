//===-- Replicas.cpp - Agreement of ranks on shared state -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Replicas.h"

#include "cgx/run/Blocks.h"

#include <algorithm>
#include <bit>
#include <map>

using namespace cgx::run;

namespace {

/// The most steps between two comparisons.
constexpr uint64_t kLongest = 1024;
/// The most tensors, and the most ranks of one list, in a message.
constexpr size_t kListed = 5, kListedRanks = 8;

std::string join(const std::vector<uint32_t> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < std::min(ranks.size(), kListedRanks); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text + (ranks.size() > kListedRanks ? ", ..." : "");
}

} // namespace

bool cgx::run::isCompared(const Job &job, uint64_t done) {
  return done == job.steps || std::has_single_bit(done) || (done != 0 && done % kLongest == 0);
}

std::vector<Disagreement> cgx::run::findDisagreements(const Job &job,
                                                      std::span<const std::vector<uint64_t>> digests) {
  std::vector<Disagreement> found;
  for (size_t i = 0; i < job.stateArguments.size(); ++i) {
    const Value &value = job.manifest.arguments[job.stateArguments[i]];
    // The ranks that hold a block, by its number and its bits.
    std::map<uint64_t, std::map<uint64_t, std::vector<uint32_t>>> holders;
    for (uint32_t rank = 0; rank < digests.size(); ++rank)
      holders[blockIndex(value, job.manifest.mesh, rank)][digests[rank][i]].push_back(rank);
    for (auto &[block, byBits] : holders) {
      if (byBits.size() == 1)
        continue;
      Disagreement &added = found.emplace_back(Disagreement{value.name, {}});
      for (auto &[bits, ranks] : byBits)
        added.ranks.push_back(std::move(ranks));
      std::sort(added.ranks.begin(), added.ranks.end());
      break; // one differing block is enough
    }
  }
  return found;
}

std::string cgx::run::describe(const Job &job, std::span<const Disagreement> disagreements,
                               uint64_t stepsDone) {
  // Steps have the numbers that checkpoints use: the run's first step need not be step 0.
  std::string text = "the ranks do not agree on the state that they share after step " +
                     std::to_string(job.firstStep + stepsDone - std::min<uint64_t>(stepsDone, 1)) + " (" +
                     std::to_string(stepsDone) + " of " + std::to_string(job.steps) + " steps done):";
  for (size_t i = 0; i < std::min(disagreements.size(), kListed); ++i) {
    text += "\n  '" + disagreements[i].tensor + "' differs between ";
    for (size_t j = 0; j < disagreements[i].ranks.size(); ++j)
      text += (j == 0                                   ? ""
               : j + 1 == disagreements[i].ranks.size() ? " and "
                                                        : ", ") +
              join(disagreements[i].ranks[j]);
  }
  if (disagreements.size() > kListed)
    text += "\n  and " + std::to_string(disagreements.size() - kListed) + " tensors more";
  return text +
         "\n  expected the step to give ranks the same where the program's sharding says so: a gradient that "
         "is not reduced along every mesh axis along which its parameter is replicated does not";
}

std::string cgx::run::describeNotFinite(const Job &job, const Outcome &outcome) {
  std::string text;
  for (size_t i = 0; i < std::min(outcome.notFinite.size(), kListed); ++i)
    text += (i ? ", '" : "'") + job.manifest.arguments[job.stateArguments[outcome.notFinite[i]]].name + "'";
  if (outcome.notFinite.size() > kListed)
    text += " and " + std::to_string(outcome.notFinite.size() - kListed) + " tensors more";
  return text + (outcome.notFinite.size() == 1 ? " is" : " are") + " not finite any more";
}
