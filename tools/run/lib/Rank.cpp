//===-- Rank.cpp - The loop of one rank -------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "Finite.h"
#include "Meeting.h"
#include "Metrics.h"
#include "Progress.h"
#include "RankErrors.h"
#include "Stepper.h"
#include "StopSignals.h"
#include "cgx/run/Checkpoints.h"
#include "cgx/run/Error.h"
#include "cgx/run/Job.h"
#include "cgx/run/Members.h"
#include "cgx/run/OutcomeStream.h"
#include "cgx/run/Replicas.h"
#include "cgx/run/TreePath.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

using namespace cgx::run;

Scalars cgx::run::findScalars(const Manifest &manifest) {
  Scalars scalars;
  std::map<std::string, int> uses;
  for (size_t i = 0; i < manifest.results.size(); ++i) {
    const Value &result = manifest.results[i];
    if (result.feeds || !result.shape.empty())
      continue;
    // A leaf that is a number, as in result[1], says nothing.
    std::string leaf = TreePath(result.name).leaf();
    bool telling = leaf.find_first_not_of("0123456789") != std::string::npos;
    scalars.all.push_back({i, telling ? leaf : result.name});
    ++uses[scalars.all.back().name];
  }
  for (Scalars::Scalar &scalar : scalars.all)
    if (uses[scalar.name] > 1)
      scalar.name = manifest.results[scalar.result].name;
  for (bool named : {true, false})
    for (size_t i = 0; i < scalars.all.size() && !scalars.loss; ++i) {
      const Value &result = manifest.results[scalars.all[i].result];
      if (isFloat(result.type) && (!named || result.name.find("loss") != std::string::npos))
        scalars.loss = i;
    }
  // A loss that is called result[0] is a loss to the reader, too.
  if (scalars.loss &&
      scalars.all[*scalars.loss].name == manifest.results[scalars.all[*scalars.loss].result].name &&
      uses.count("loss") == 0)
    scalars.all[*scalars.loss].name = "loss";
  if (scalars.loss) { // first is where people look for it
    auto loss = scalars.all.begin() + static_cast<std::ptrdiff_t>(*scalars.loss);
    std::rotate(scalars.all.begin(), loss, loss + 1);
    scalars.loss = 0;
  }
  return scalars;
}

uint64_t cgx::run::hashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  // Multiply and fold, eight bytes at a time: a check for equality, not for foes.
  auto fold = [](uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = seed ^ 0x9e3779b97f4a7c15u;
  uint64_t word = 0;
  size_t position = 0;
  for (; position + 8 <= bytes.size(); position += 8) {
    std::memcpy(&word, bytes.data() + position, 8);
    hash = fold(hash ^ word, 0xd6e8feb86659fd93u) + position;
  }
  word = 0;
  std::memcpy(&word, bytes.data() + position, bytes.size() - position);
  hash = fold(hash ^ word, 0xd6e8feb86659fd93u);
  return fold(hash ^ bytes.size(), 0xa0761d6478bd642fu);
}

namespace {

class RankLoop {
public:
  RankLoop(const Job &job, uint32_t rank, const StopSignal &stop)
      : job_(job), manifest_(job.manifest), rank_(rank), stop_(stop), stepper_(job, rank) {
    if (job.evaluation)
      evaluation_.emplace(job, rank);
    for (size_t i = 0; i < manifest_.arguments.size(); ++i)
      if (const Value &value = manifest_.arguments[i]; value.name == "local_steps" && value.initial == "0")
        innerSteps_ = i;
  }

  void restoreMemories() {
    const bool hasMembers = !job_.bindings.members.empty();
    if (!job_.isOfAnotherProgram && !hasMembers)
      return restoreCodecState(stepper_.context(), rank_, *job_.checkpoint);
    const Conversion conversion =
        convertCodecState(stepper_.context(),
                          hasMembers ? findPredecessor(job_.bindings, manifest_, rank_)
                                     : findSameRank(*job_.checkpoint, manifest_, rank_),
                          *job_.checkpoint, manifest_);
    const std::string whose = job_.memberships.size() > 1
                                  ? "of the new ranks"
                                  : "'" + job_.checkpoint->path() + "' was saved by another program";
    if (rank_ == 0)
      std::fprintf(stderr, "cgx-run: note: %s: %s\n", whose.c_str(), describe(conversion).c_str());
  }

  void run(Outcome &outcome) {
    lookAtFirstState();
    stepper_.connect(job_.name);
    if (evaluation_)
      evaluation_->connect();
    if (job_.trace)
      Stepper::check(cgx_context_begin_trace(stepper_.context()));
    try {
      if (job_.checkpoint)
        restoreMemories();
      runSteps(outcome);
    } catch (const Error &error) {
      cgx_context_abort(stepper_.context(), error.what());
      outcome.boundaries = std::move(boundaries_);
      throw;
    }
    if (outcome.stopSignal == kJoinSignal)
      outcome.boundaries.push_back(std::move(boundaries_.back()));
    const char *telemetry = nullptr;
    Stepper::check(cgx_context_telemetry(stepper_.context(), &telemetry));
    outcome.telemetry = telemetry;
    if (job_.trace) {
      const char *events = nullptr;
      Stepper::check(cgx_context_trace(stepper_.context(), &events));
      outcome.trace = events;
    }
    collectBlocks(outcome);
    if (job_.save)
      outcome.codecState = copyCodecState(stepper_.context(), rank_);
  }

  void sayFarewell(const Farewell &farewell, const Outcome &outcome) {
    if (farewell)
      farewell(stepper_.context(), outcome);
  }

private:
  void runSteps(Outcome &outcome) {
    using Clock = std::chrono::steady_clock;
    Progress progress(job_, stepper_.context());
    outcome.scalars.resize(rank_ == 0 ? job_.scalars.all.size() : 0);
    for (std::vector<double> &series : outcome.scalars)
      series.reserve(job_.steps);
    Planner planner(job_.planning, stepper_.context());
    if (rank_ == 0 && !job_.metrics.empty())
      metrics_.emplace(job_, stepper_.context());
    const uint64_t end = job_.firstStep + job_.steps;
    Clock::time_point start = Clock::now();
    for (uint64_t done = 0;; ++done) {
      if (isBoundary())
        keepBoundary(done, planner);
      if (isMeeting(done) && !meet(outcome, planner, done))
        break;
      if (done == job_.steps)
        break;
      planner.beforeStep(job_.firstStep + done, end);
      stepper_.run(job_.firstStep + done);
      readScalars(outcome);
      if (rank_ == 0)
        progress.step(done + 1, scalars_);
      if (metrics_)
        metrics_->step(job_.firstStep + done, scalars_, planner.plans.size());
      stepper_.feed();
      planner.afterStep(job_.firstStep + done);
      outcome.steps = done + 1;
    }
    if (writer_.joinable())
      writer_.join();
    if (outcome.steps == job_.steps)
      planner.finish(end);
    outcome.plans = std::move(planner.plans);
    outcome.profile = std::move(planner.profile);
    outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }

  void readScalars(Outcome &outcome) {
    scalars_ = stepper_.scalars();
    for (size_t i = 0; i < scalars_.size() && rank_ == 0; ++i)
      outcome.scalars[i].push_back(scalars_[i]);
    if (job_.scalars.loss && !std::isfinite(scalars_[*job_.scalars.loss]))
      isLossNotFinite_ = true;
  }

  /// Measures the state on other samples.
  void evaluate(Outcome &outcome) {
    outcome.evaluations.push_back({outcome.steps, evaluation_->run(stepper_)});
    const Measured &measured = outcome.evaluations.back();
    if (rank_ != 0)
      return;
    if (metrics_)
      metrics_->evaluation(job_.firstStep + outcome.steps - 1, measured.values);
    if (job_.showsProgress)
      Progress::evaluation(job_, measured);
  }

  bool isMeeting(uint64_t done) const {
    return meetings_.isDue(done) || isCompared(job_, done) || isSaved(job_, done) ||
           isEvaluated(job_, done) || isBoundary();
  }

  /// Returns whether other ranks could continue from here: in an elastic job, after an outer step and before
  /// the next inner one.
  bool isBoundary() const {
    if (!job_.isElastic || !innerSteps_)
      return job_.isElastic;
    const std::span<const std::byte> count = stepper_.block(*innerSteps_);
    return std::all_of(count.begin(), count.end(), [](std::byte byte) { return byte == std::byte{0}; });
  }

  /// Ranks may learn of a death at the outer step or the one behind it: what all have is the last or the one
  /// before.
  void keepBoundary(uint64_t done, const Planner &planner) {
    if (boundaries_.size() == 2)
      boundaries_.erase(boundaries_.begin());
    Outcome &boundary = boundaries_.emplace_back();
    boundary.steps = done;
    boundary.plans = planner.plans;
    for (size_t argument : job_.stateArguments) {
      const std::span<const std::byte> block = stepper_.block(argument);
      boundary.blocks.emplace_back(block.begin(), block.end());
    }
    boundary.codecState = copyCodecState(stepper_.context(), rank_);
  }

  /// Lets the ranks ask each other after so many steps. False if all end here, on all alike.
  bool meet(Outcome &outcome, Planner &planner, uint64_t done) {
    const std::vector<Sign> signs =
        exchange(Sign{stop_.load(), isLossNotFinite_, joinRequests() != 0, meetings_.secondsPerStep(done)});
    meetings_.held(done, signs);
    bool isStop = false, isJoin = false;
    for (const Sign &sign : signs) {
      outcome.stopSignal = outcome.stopSignal != 0 ? outcome.stopSignal : sign.signal;
      isStop |= sign.signal != 0 || (job_.stopOnNan && sign.isLossNotFinite);
      isJoin |= sign.isJoinWanted && isBoundary();
    }
    if (isJoin && !isStop) {
      outcome.stopSignal = kJoinSignal;
      isStop = true;
    }
    if (done == job_.steps) // all is done that was to be done
      outcome.stopSignal = 0;
    if (isEvaluated(job_, done))
      evaluate(outcome);
    if (!isStop && !isCompared(job_, done) && !isSaved(job_, done))
      return true;
    if (!compare(outcome))
      return false;
    if (job_.planning.adapts())
      planner.settle(job_.firstStep + done);
    if (isStop || (job_.stopOnNan && !outcome.notFinite.empty()))
      return false;
    if (isSaved(job_, done))
      saveOnTheWay(outcome, planner);
    return true;
  }

  /// The state after this step, by rank 0, while all are connected. What cannot be saved is no reason to
  /// stop.
  void saveOnTheWay(const Outcome &outcome, const Planner &planner) {
    if (!outcome.notFinite.empty()) {
      if (rank_ == 0)
        std::fprintf(stderr, "cgx-run: warning: nothing is saved after step %llu: %s\n",
                     static_cast<unsigned long long>(job_.firstStep + outcome.steps - 1),
                     describeNotFinite(job_, outcome).c_str());
      return;
    }
    Outcome snapshot;
    snapshot.steps = outcome.steps;
    snapshot.scalars = outcome.scalars;
    snapshot.evaluations = outcome.evaluations;
    snapshot.hashes = outcome.hashes;
    snapshot.plans = planner.plans;
    collectBlocks(snapshot);
    snapshot.codecState = copyCodecState(stepper_.context(), rank_);
    std::vector<Outcome> all(manifest_.ranks);
    gatherOutcomes(job_, stepper_.context(), rank_, snapshot, all);
    if (rank_ != 0)
      return;
    // Disks may take longer than other ranks wait. Never two at a time: the older could replace the newer.
    if (writer_.joinable())
      writer_.join();
    const auto write = [this, all = std::make_shared<const std::vector<Outcome>>(std::move(all))] {
      try {
        throwRankErrors(*all, std::vector<bool>(all->size()));
        saveCheckpoint(job_, *all);
      } catch (const std::exception &error) {
        std::fprintf(stderr, "cgx-run: warning: nothing is saved after step %llu: %s\n",
                     static_cast<unsigned long long>(job_.firstStep + all->front().steps - 1), error.what());
      }
    };
    try {
      writer_ = std::jthread(write);
    } catch (const std::system_error &) { // no more threads: then the others wait
      write();
    }
  }

  /// Returns the signs of all ranks, which have one length.
  std::vector<Sign> exchange(const Sign &own) {
    std::vector<Sign> signs(manifest_.ranks);
    auto take = [](void *user, uint32_t rank, const void *data, uint64_t bytes) {
      std::memcpy(&(*static_cast<std::vector<Sign> *>(user))[rank], data, bytes);
    };
    Stepper::check(cgx_context_all_gather(stepper_.context(), &own, sizeof own, take, &signs));
    return signs;
  }

  /// False if this rank's state or another's is not what their replicas have; all ranks say the same. Finds
  /// out also which state is not finite anywhere.
  bool compare(Outcome &outcome) {
    const size_t count = job_.stateArguments.size();
    std::vector<uint64_t> own;
    for (size_t argument : job_.stateArguments)
      own.push_back(hashBytes(stepper_.block(argument)));
    outcome.hashes = own;
    for (size_t i = 0; i < count; ++i)
      own.push_back(wasFinite_[i] && !isFinite(manifest_.arguments[job_.stateArguments[i]].type,
                                               stepper_.block(job_.stateArguments[i])));
    std::vector<std::vector<uint64_t>> digests(manifest_.ranks, std::vector<uint64_t>(own.size()));
    auto take = [](void *user, uint32_t rank, const void *data, uint64_t bytes) {
      std::memcpy((*static_cast<decltype(digests) *>(user))[rank].data(), data, bytes);
    };
    Stepper::check(cgx_context_all_gather(stepper_.context(), own.data(), own.size() * sizeof(uint64_t), take,
                                          &digests));
    outcome.notFinite.clear();
    for (size_t i = 0; i < count; ++i)
      if (std::any_of(digests.begin(), digests.end(), [&](const auto &rank) { return rank[count + i] != 0; }))
        outcome.notFinite.push_back(uint32_t(i));
    for (std::vector<uint64_t> &rank : digests)
      rank.resize(count);
    return findDisagreements(job_, digests).empty();
  }

  /// Remembers which state is not finite at the beginning, like the bound of an optimizer: that is intended.
  void lookAtFirstState() {
    for (size_t argument : job_.stateArguments)
      wasFinite_.push_back(isFinite(manifest_.arguments[argument].type, stepper_.block(argument)));
  }

  void collectBlocks(Outcome &outcome) const {
    for (size_t argument : job_.stateArguments) {
      const Value &value = manifest_.arguments[argument];
      std::span<const std::byte> block = stepper_.block(argument);
      outcome.blocks.emplace_back();
      if (job_.save && isFirstHolder(value))
        outcome.blocks.back().assign(block.begin(), block.end());
    }
  }

  bool isFirstHolder(const Value &value) const {
    for (uint32_t other = 0; other < rank_; ++other)
      if (blockIndex(value, manifest_.mesh, other) == blockIndex(value, manifest_.mesh, rank_))
        return false;
    return true;
  }

  const Job &job_;
  const Manifest &manifest_;
  uint32_t rank_;
  const StopSignal &stop_;
  Stepper stepper_;
  std::optional<Evaluation> evaluation_;
  std::optional<Metrics> metrics_; ///< of rank 0
  Meetings meetings_;
  std::vector<bool> wasFinite_; ///< each state argument at first
  std::vector<double> scalars_; ///< of the last step
  bool isLossNotFinite_ = false;
  std::optional<size_t> innerSteps_; ///< the argument that counts them since the last outer step
  std::vector<Outcome> boundaries_;
  std::jthread writer_; ///< of the last checkpoint on the way; a new one waits for it
};

} // namespace

Outcome cgx::run::runRank(const Job &job, uint32_t rank, const StopSignal &stop, const Farewell &farewell) {
  Outcome outcome;
  try {
    RankLoop loop(job, rank, stop);
    loop.run(outcome);
    loop.sayFarewell(farewell, outcome);
  } catch (const std::exception &error) {
    outcome.error = error.what();
  }
  return outcome;
}
