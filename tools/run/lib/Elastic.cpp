//===-- Elastic.cpp - Job whose ranks may die and join ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each membership is a job of its own, with a program for its number of ranks, its own processes,
// and a unique name, so that a late rank of the membership before cannot take part. Between two
// memberships the state is a checkpoint, made of the state that the remaining ranks had between
// two outer steps.
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Elastic.h"

#include "RankErrors.h"
#include "StopSignals.h"
#include "cgx/output/TemporaryFolder.h"
#include "cgx/run/Checkpoints.h"
#include "cgx/run/Error.h"
#include "cgx/run/Members.h"

#include <algorithm>
#include <cstdio>

using namespace cgx::run;

namespace {

class ElasticRun {
public:
  ElasticRun(Options options, const Prepare &prepare) : options_(std::move(options)), prepare_(prepare) {}

  std::vector<Outcome> run(std::unique_ptr<Prepared> &prepared, const Start &start) {
    prepared = prepare_(options_);
    checkJob(prepared->job);
    if (hasNothingToDo(prepared->job))
      return {};
    options_.until = prepared->job.firstStep + prepared->job.steps;
    options_.steps.reset();
    memberships_.push_back({prepared->job.firstStep, prepared->job.manifest.ranks, ""});
    while (true) {
      Job &job = prepared->job;
      job.isElastic = true;
      job.memberships = memberships_;
      const size_t number = memberships_.size() - 1;
      job.name = options_.jobName + (number == 0 ? "" : "." + std::to_string(number));
      Ended ended = start(job);
      if (!goOn(ended))
        return std::move(ended.outcomes);
      const cgx::TemporaryFolder folder("cgx-run");
      const std::string file =
          folder.path() / ("membership-" + std::to_string(memberships_.size()) + ".safetensors");
      handOn(job, ended, file);
      options_.resume = file;
      options_.state.clear();
      options_.isHandedOn = true;
      std::unique_ptr<Prepared> next = prepareNext(job); // the old job keeps the file open until then
      prepared = std::move(next);
    }
  }

private:
  static void checkJob(const Job &job) {
    if (job.manifest.mesh.size() != 1)
      throw Error("expected --elastic with a mesh of one axis, got " +
                  std::to_string(job.manifest.mesh.size()) + " in '" + job.program.path +
                  "', whose ranks share what one that dies would take along");
    if (std::none_of(job.manifest.arguments.begin(), job.manifest.arguments.end(), isOfEachRank))
      throw Error("expected --elastic with ranks that train by themselves, whose work goes on without one of "
                  "them: --local-steps makes such a step of '" +
                  job.program.path + "'");
  }

  /// Decides if another membership follows, and which ranks of this one are left for it. Throws Error where
  /// the run cannot continue.
  bool goOn(const Ended &ended) {
    left_.clear();
    losses_.clear();
    std::vector<uint32_t> lost;
    for (uint32_t rank = 0; rank < ended.outcomes.size(); ++rank)
      if (ended.lost[rank])
        lost.push_back(rank);
      else if (!ended.outcomes[rank].boundaries.empty())
        left_.push_back(rank);
    for (uint32_t rank : lost)
      losses_ +=
          (losses_.empty() ? "rank " : "; rank ") + std::to_string(rank) + ": " + ended.outcomes[rank].error;
    joining_ = uint32_t(joins_.take());
    const bool isJoin = ended.outcomes[0].error.empty() && ended.outcomes[0].stopSignal == kJoinSignal;
    if (lost.empty() && !isJoin)
      throwRankErrors(ended.outcomes, ended.died);
    if (lost.empty() && !isJoin)
      return false;
    if (left_.size() + joining_ < *options_.elastic || left_.empty() ||
        left_.size() + lost.size() != ended.outcomes.size())
      giveUp(ended);
    const std::optional<uint64_t> steps = commonBoundary(ended);
    if (!steps)
      giveUp(ended);
    steps_ = *steps;
    return true;
  }

  /// Prepares the job of the ranks that are left and those that join, or only of the former where the program
  /// takes no more ranks.
  std::unique_ptr<Prepared> prepareNext(const Job &job) {
    const uint32_t left = uint32_t(left_.size());
    try {
      options_.ranks = left + joining_;
      std::unique_ptr<Prepared> next = prepare_(options_);
      announce(job);
      return next;
    } catch (const Error &error) {
      if (joining_ == 0)
        throw;
      std::fprintf(stderr, "cgx-run: warning: nobody joins, since the job cannot go on with %u ranks: %s\n",
                   *options_.ranks, error.what());
      joining_ = 0;
      options_.ranks = left;
      std::unique_ptr<Prepared> next = prepare_(options_);
      announce(job);
      return next;
    }
  }

  [[noreturn]] void giveUp(const Ended &ended) const {
    try {
      throwRankErrors(ended.outcomes, ended.died);
    } catch (const Error &error) {
      if (left_.empty())
        throw;
      throw Error(error.what() + std::string("\n  ") + std::to_string(left_.size()) +
                  (left_.size() == 1 ? " rank is" : " ranks are") + " left, and --elastic " +
                  std::to_string(*options_.elastic) + " asks for as many to go on");
    }
    throw Error("no rank is left to go on with");
  }

  /// Returns the last outer step that all remaining ranks have done, in steps of this membership.
  std::optional<uint64_t> commonBoundary(const Ended &ended) const {
    std::optional<uint64_t> common;
    for (const Outcome &candidate : ended.outcomes[left_[0]].boundaries) {
      const bool isCommon = std::all_of(left_.begin(), left_.end(), [&](uint32_t rank) {
        const std::vector<Outcome> &boundaries = ended.outcomes[rank].boundaries;
        return std::any_of(boundaries.begin(), boundaries.end(),
                           [&](const Outcome &boundary) { return boundary.steps == candidate.steps; });
      });
      if (isCommon && (!common || candidate.steps > *common))
        common = candidate.steps;
    }
    return common;
  }

  void announce(const Job &job) {
    std::string change = losses_;
    if (joining_ != 0)
      change += (change.empty() ? "" : "; ") + std::to_string(joining_) +
                (joining_ == 1 ? " rank joins" : " ranks join");
    const uint64_t firstStep = job.firstStep + steps_;
    if (change.empty())
      change = "as before";
    std::fprintf(stderr, "cgx-run: %s: going on from step %llu with %u ranks, before %u\n", change.c_str(),
                 static_cast<unsigned long long>(firstStep), *options_.ranks, job.manifest.ranks);
    memberships_.push_back({firstStep, *options_.ranks, change});
  }

  /// Writes the state that the remaining ranks had at that boundary, as a checkpoint of that many ranks.
  void handOn(const Job &job, Ended &ended, const std::string &path) const {
    std::vector<Outcome> outcomes;
    for (uint32_t rank : left_) {
      std::vector<Outcome> &boundaries = ended.outcomes[rank].boundaries;
      auto boundary = std::find_if(boundaries.begin(), boundaries.end(),
                                   [&](const Outcome &each) { return each.steps == steps_; });
      for (CodecTensor &tensor : boundary->codecState)
        tensor.name = nameForRank(tensor.name, uint32_t(outcomes.size()));
      outcomes.push_back(std::move(*boundary));
    }
    Job saved = job; // a copy with fewer ranks
    saved.manifest.mesh[0].size = int64_t(left_.size());
    for (size_t argument : saved.stateArguments)
      if (Value &value = saved.manifest.arguments[argument]; isOfEachRank(value))
        value.globalShape[0] = int64_t(left_.size());
    saveState(saved, outcomes, path, std::nullopt);
  }

  Options options_;
  const Prepare &prepare_;
  JoinSignal joins_;
  std::vector<Membership> memberships_;
  std::vector<uint32_t> left_; ///< the remaining ranks, by their numbers in the last membership
  uint64_t steps_ = 0;         ///< steps of the last membership that are kept
  uint32_t joining_ = 0;
  std::string losses_; ///< the ranks that were lost, and why
};

} // namespace

std::vector<Outcome> cgx::run::runElastic(const Options &options, const Prepare &prepare, const Start &start,
                                          std::unique_ptr<Prepared> &prepared) {
  return ElasticRun(options, prepare).run(prepared, start);
}
