//===-- Processes.cpp - One process per rank --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankErrors.h"
#include "StopSignals.h"
#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"
#include "cgx/run/Launch.h"
#include "cgx/run/OutcomeStream.h"

#include "cgx/formats/SystemError.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace cgx::run;

namespace {

using Clock = std::chrono::steady_clock;

/// The time that ranks have, once they know that the job is over, to report it and end.
constexpr std::chrono::seconds kGrace{5};
/// The factor by which a step that is completed after a signal may exceed the job's timeout, because ranks
/// wait for each other.
constexpr int kSlowness = 20;

struct Child {
  pid_t pid = -1;
  Descriptor pipe; // open until the child has ended
  OutcomeReader reader;
  std::optional<Clock::time_point> stopped; // when the child was first seen stopped by SIGSTOP or a debugger
  bool isGivenUp = false;                   // the child was ended because it stayed stopped
};

/// The parent of the ranks: it forks them and watches them until all have ended.
class Supervisor {
public:
  explicit Supervisor(const Job &job)
      : job_(job), children_(job.manifest.ranks), outcomes_(job.manifest.ranks), lost_(job.manifest.ranks),
        died_(job.manifest.ranks) {
    signals_.block();
  }

  /// Ends the ranks that are left after an exception.
  ~Supervisor() {
    for (Child &child : children_)
      if (child.pipe.isOpen())
        ::kill(child.pid, SIGKILL);
    for (Child &child : children_)
      if (child.pipe.isOpen())
        ::waitpid(child.pid, nullptr, 0);
  }

  Ended run() {
    std::fflush(nullptr); // otherwise every child prints the buffered text again
    // No rank starts before all processes exist, so that none has written anything if one cannot be started.
    auto [go, mayGo] = makePipe();
    for (uint32_t rank = 0; rank < children_.size(); ++rank)
      start(rank, go, mayGo);
    const std::string all(children_.size(), 'g');
    if (::write(mayGo.get(), all.data(), all.size()) != ssize_t(all.size()))
      throw Error(std::string("cannot start the ranks: ") + cgx::formats::systemErrorText(errno));
    go.reset();
    mayGo.reset();
    while (waitForSomething())
      ;
    const bool failed =
        std::any_of(outcomes_.begin(), outcomes_.end(), [](const Outcome &o) { return !o.error.empty(); });
    if (interrupted_ != 0 && failed)
      throw Interrupted{interrupted_};
    return {std::move(outcomes_), std::move(lost_), std::move(died_)};
  }

private:
  /// Makes a pipe and returns its reading and its writing end.
  static std::pair<Descriptor, Descriptor> makePipe() {
    int ends[2];
    if (::pipe(ends) != 0)
      throw Error(std::string("cannot create a pipe: ") + cgx::formats::systemErrorText(errno));
    return {Descriptor(ends[0]), Descriptor(ends[1])};
  }

  void start(uint32_t rank, Descriptor &go, Descriptor &mayGo) {
    auto [readEnd, writeEnd] = makePipe();
    pid_t parent = ::getpid(), pid = ::fork();
    if (pid < 0)
      throw Error(std::string("cannot start a process: ") + cgx::formats::systemErrorText(errno) +
                  (errno == EAGAIN ? kLimitOfThreads : ""));
    if (pid == 0) {
      readEnd.reset(); // otherwise the rank holds the pipe open and never sees that the parent is gone
      mayGo.reset();   // otherwise ranks would wait for each other
      if (char any; ::read(go.get(), &any, 1) != 1)
        ::_exit(1);
      go.reset();
      runChild(rank, parent, writeEnd.get());
    }
    children_[rank].pid = pid;
    children_[rank].pipe = std::move(readEnd);
  }

  [[noreturn]] void runChild(uint32_t rank, pid_t parent, int pipe) {
    // A rank ends when its parent is killed.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent)
      ::_exit(1);
    for (Child &sibling : children_)
      sibling.pipe.reset();
    signals_.takeRepeatedly();
    signals_.unblock();
    Outcome outcome = runRank(job_, rank, stopSignal());
    sendOutcome(pipe, rank, outcome);
    std::fflush(nullptr);
    // The child must not run the parent's destructors.
    ::_exit(outcome.error.empty() ? 0 : 1);
  }

  /// Waits for an event. Returns false when all children have ended.
  bool waitForSomething() {
    std::vector<pollfd> polls;
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < children_.size(); ++rank)
      if (children_[rank].pipe.isOpen()) {
        polls.push_back({children_[rank].pipe.get(), POLLIN, 0});
        ranks.push_back(rank);
      }
    if (polls.empty())
      return false;
    timespec limit = {1, 0};
    int ready = ::ppoll(polls.data(), polls.size(), &limit, &signals_.waitMask());
    if (int signal = stopSignal(); signal != 0 && interrupted_ == 0) {
      interrupted_ = signal;
      signalAll(signal);
      // The ranks get time to complete the step and to report; a second signal ends them at once.
      endBy(kGrace + kSlowness * std::chrono::milliseconds(job_.timeoutMs));
    }
    if (joinRequests() > told_) { // a rank joins between two outer steps, where all ranks are told
      told_ = joinRequests();
      signalAll(kJoinSignal);
    }
    for (size_t i = 0; ready > 0 && i < polls.size(); ++i)
      if (polls[i].revents != 0 && !children_[ranks[i]].reader.read(polls[i].fd))
        reap(ranks[i]);
    if (deadline_ && Clock::now() > *deadline_)
      signalAll(SIGKILL);
    for (Child &child : children_)
      if (child.pipe.isOpen())
        watchStopped(child);
    return true;
  }

  /// Ends a child that stays stopped after a rank has ended. While all ranks train, the others notice a
  /// stopped one by their timeout; afterwards only this process waits for it.
  void watchStopped(Child &child) {
    const auto happened = [&](int what) {
      siginfo_t info{};
      return ::waitid(P_PID, child.pid, &info, what | WNOHANG) == 0 && info.si_pid == child.pid;
    };
    if (happened(WSTOPPED))
      child.stopped = Clock::now();
    if (happened(WCONTINUED))
      child.stopped.reset();
    if (!child.stopped || !firstEnd_)
      return;
    if (Clock::now() - std::max(*child.stopped, *firstEnd_) > std::chrono::milliseconds(job_.timeoutMs)) {
      child.isGivenUp = true;
      ::kill(child.pid, SIGKILL);
    }
  }

  void reap(uint32_t rank) {
    firstEnd_ = firstEnd_.value_or(Clock::now());
    Child &child = children_[rank];
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
      ;
    child.pipe.reset();
    try {
      if (child.reader.isEmpty())
        throw Error("is missing");
      outcomes_[rank] = child.reader.take(job_).second;
    } catch (const Error &) { // it died before or while it wrote
      reportDeath(rank, status);
    }
    // A rank that gave up has told the others; they notice by the timeout that one has died.
    if (!outcomes_[rank].error.empty())
      endBy(kGrace +
            (lost_[rank] ? std::chrono::milliseconds(job_.timeoutMs) : std::chrono::milliseconds(0)));
  }

  void reportDeath(uint32_t rank, int status) {
    bool killedByUs = deadline_ && Clock::now() > *deadline_;
    lost_[rank] = true;
    died_[rank] = !killedByUs || children_[rank].isGivenUp;
    outcomes_[rank].error =
        children_[rank].isGivenUp
            ? "was stopped (SIGSTOP, or a debugger) when other ranks had ended, did not go on for " +
                  std::to_string(job_.timeoutMs / 1000) + " s (--timeout) and was killed"
        : killedByUs          ? "did not end in time, and had to be killed"
        : WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                    ::strsignal(WTERMSIG(status)) + ")"
                              : "ended with exit status " + std::to_string(WEXITSTATUS(status)) +
                                    " without finishing its steps";
  }

  void endBy(Clock::duration delay) {
    if (!deadline_ || Clock::now() + delay < *deadline_)
      deadline_ = Clock::now() + delay;
  }

  void signalAll(int signal) {
    for (Child &child : children_)
      if (child.pipe.isOpen())
        ::kill(child.pid, signal);
  }

  const Job &job_;
  StopSignals signals_;
  std::vector<Child> children_;
  std::vector<Outcome> outcomes_;
  std::vector<bool> lost_, died_;
  int interrupted_ = 0, told_ = 0;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> firstEnd_; ///< when the first rank ended
};

} // namespace

Ended cgx::run::watchProcesses(const Job &job) { return Supervisor(job).run(); }

std::vector<Outcome> cgx::run::runProcesses(const Job &job) {
  Ended ended = watchProcesses(job);
  endByRankErrors(job, ended.outcomes, ended.died);
  return std::move(ended.outcomes);
}
