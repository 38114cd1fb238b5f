//===-- Pulse.cpp - That this process lives ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/ring/Pulse.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace cgx {
namespace {

constexpr std::chrono::milliseconds kPeriod{50};

/// The thread of this process, which runs while there is something to count.
class Heart {
public:
  void add(std::atomic<uint32_t> &counter) {
    std::lock_guard lock(mutex);
    counters.push_back(&counter);
    if (counters.size() == 1)
      start();
  }

  void remove(std::atomic<uint32_t> &counter) {
    std::thread ended;
    {
      std::lock_guard lock(mutex);
      std::erase(counters, &counter);
      if (counters.empty())
        std::swap(ended, thread); // it sees that it is not the thread any more
    }
    changed.notify_all();
    if (ended.joinable())
      ended.join();
  }

  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }

  /// The thread is the parent's, and what it counts is the parent's rank.
  void forget() {
    counters.clear();
    if (thread.joinable())
      thread.detach();
    mutex.unlock();
  }

private:
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
      for (std::atomic<uint32_t> *counter : counters)
        counter->fetch_add(1, std::memory_order_relaxed);
      changed.wait_for(lock, kPeriod);
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::atomic<uint32_t> *> counters;
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

Pulse::Pulse(std::atomic<uint32_t> &counter) : counter(counter) { heart().add(counter); }

Pulse::~Pulse() { heart().remove(counter); }

} // namespace cgx
