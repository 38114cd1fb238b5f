//===-- Heartbeat.cpp - Heartbeats of a process -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/Heartbeat.h"

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

/// The thread of this process that sends heartbeats. It runs while there are any to send.
class HeartbeatThread {
public:
  uint64_t add(std::function<void()> send) {
    std::lock_guard lock(mutex);
    senders.emplace(++added, std::move(send));
    if (senders.size() == 1)
      start();
    return added;
  }

  /// In a forked child the number may be unknown.
  void remove(uint64_t number) {
    end([&] { senders.erase(number); });
  }
  void removeAll() {
    end([&] { senders.clear(); });
  }

  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }

  /// The thread belongs to the parent, and so does the rank whose heartbeats it sends.
  void forget() {
    senders.clear();
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
      if (senders.empty())
        std::swap(ended, thread); // the thread sees that it was replaced, and ends
    }
    changed.notify_all();
    if (ended.joinable())
      ended.join();
  }

  void start() {
    // Blocks all signals in this thread: they are for the threads of the program.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    thread = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  void run() {
    std::unique_lock lock(mutex);
    while (thread.get_id() == std::this_thread::get_id()) {
      for (const auto &[number, send] : senders)
        send();
      changed.wait_for(lock, kPeriod);
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint64_t, std::function<void()>> senders;
  uint64_t added = 0;
  std::thread thread;
};

/// The object is never destroyed, since contexts may outlive the objects of this library.
HeartbeatThread &heartbeatThread() {
  static HeartbeatThread *one = [] {
    auto *made = new HeartbeatThread;
    pthread_atfork([] { heartbeatThread().lockForFork(); }, [] { heartbeatThread().unlockAfterFork(); },
                   [] { heartbeatThread().forget(); });
    return made;
  }();
  return *one;
}

} // namespace

/// Heartbeats of a context that is not destroyed stop when the process begins to end. Exit handlers run in
/// reverse order, so libraries that the heartbeat uses, and that were initialized before, still exist then.
Heartbeat::Heartbeat(std::function<void()> send) : number(heartbeatThread().add(std::move(send))) {
  std::atexit([] { heartbeatThread().removeAll(); });
}

Heartbeat::~Heartbeat() { heartbeatThread().remove(number); }

} // namespace cgx
