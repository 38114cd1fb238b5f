//===-- progress/ProgressThread.cpp - A thread for communication -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "progress/ProgressThread.h"

#include "transport/SpinPause.h"

#include <chrono>
#include <pthread.h>
#include <signal.h>

namespace cgx {

/// The longest time of spinning before sleeping.
static constexpr std::chrono::microseconds kLook{50};

/// Starts a thread with all signals blocked: they are for the threads of the host program.
static std::thread startWithoutSignals(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), "cgx-progress");
  return thread;
}

ProgressThread::ProgressThread(bool mayWaste)
    : mayWaste(mayWaste), thread(startWithoutSignals([this] { run(); })) {}

ProgressThread::~ProgressThread() {
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  given.notify_one();
  thread.join();
}

ProgressThread::Ticket ProgressThread::submit(std::function<void()> work) {
  Ticket ticket;
  {
    std::lock_guard lock(mutex);
    queue.push_back(std::move(work));
    ticket = submitted.fetch_add(1) + 1;
  }
  given.notify_one();
  return ticket;
}

template <typename Condition> bool ProgressThread::look(Condition condition) const {
  if (!mayWaste)
    return condition();
  auto end = std::chrono::steady_clock::now() + kLook;
  do {
    if (condition())
      return true;
    spinPause();
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

void ProgressThread::await(Ticket ticket) {
  auto isDone = [&] { return completed.load(std::memory_order_acquire) >= ticket; };
  if (look(isDone))
    return;
  std::unique_lock lock(mutex);
  done.wait(lock, isDone);
}

void ProgressThread::run() {
  for (;;) {
    look([&] {
      return submitted.load(std::memory_order_relaxed) != completed.load(std::memory_order_relaxed);
    });
    std::function<void()> work;
    {
      std::unique_lock lock(mutex);
      given.wait(lock, [&] { return ending || !queue.empty(); });
      if (queue.empty())
        return;
      work = std::move(queue.front());
      queue.pop_front();
    }
    work();
    {
      std::lock_guard lock(mutex);
      completed.fetch_add(1, std::memory_order_release);
    }
    done.notify_one();
  }
}

} // namespace cgx
