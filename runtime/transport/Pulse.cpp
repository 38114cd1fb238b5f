//===-- Pulse.cpp - That this process lives ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/Pulse.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace cgx {
namespace {

constexpr std::chrono::milliseconds kPeriod{50};

/// The thread of this process, which runs while there is a beat to make.
class Heart {
public:
  uint64_t add(std::function<void()> beat) {
    std::lock_guard lock(mutex);
    beats.emplace(++added, std::move(beat));
    if (beats.size() == 1)
      start();
    return added;
  }

  /// In a child that was forked there may be nothing of that number.
  void remove(uint64_t number) {
    end([&] { beats.erase(number); });
  }
  void removeAll() {
    end([&] { beats.clear(); });
  }

  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }

  /// The thread is the parent's, and so is the rank whose beats it makes.
  void forget() {
    beats.clear();
    if (thread.joinable())
      thread.detach();
    mutex.unlock();
  }

private:
  void end(const std::function<void()> &erase) {
    std::thread ended;
    {
      std::lock_guard lock(mutex);
      erase();
      if (beats.empty())
        std::swap(ended, thread); // it sees that it is not the thread any more
    }
    changed.notify_all();
    if (ended.joinable())
      ended.join();
  }

  void start() {
    // Signals are for the threads of the program.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    thread = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  void run() {
    std::unique_lock lock(mutex);
    while (thread.get_id() == std::this_thread::get_id()) {
      for (const auto &[number, beat] : beats)
        beat();
      changed.wait_for(lock, kPeriod);
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint64_t, std::function<void()>> beats;
  uint64_t added = 0;
  std::thread thread;
};

/// Never destroyed: contexts may outlive the objects of this library.
Heart &heart() {
  static Heart *one = [] {
    auto *made = new Heart;
    pthread_atfork([] { heart().lockForFork(); }, [] { heart().unlockAfterFork(); },
                   [] { heart().forget(); });
    return made;
  }();
  return *one;
}

} // namespace

/// A context that is not destroyed does not beat while the process ends: handlers run in the reverse order,
/// so that libraries that the beat uses, and that were initialized before, are still there.
Pulse::Pulse(std::function<void()> beat) : number(heart().add(std::move(beat))) {
  std::atexit([] { heart().removeAll(); });
}

Pulse::~Pulse() { heart().remove(number); }

} // namespace cgx
