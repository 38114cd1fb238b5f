//===-- progress/ProgressThread.h - Work beside the step ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread that does what it is given, in that order. Who gives it work is one thread too.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROGRESS_PROGRESSTHREAD_H
#define CGX_RUNTIME_PROGRESS_PROGRESSTHREAD_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace cgx {

class ProgressThread {
public:
  /// Names work that was given.
  using Ticket = uint64_t;

  /// `mayWaste` says whether there is a processor to spare: then both sides look for each other for a
  /// moment before they sleep, because to be woken takes longer than a small collective.
  explicit ProgressThread(bool mayWaste);
  /// Waits for all work.
  ~ProgressThread();
  ProgressThread(const ProgressThread &) = delete;
  ProgressThread &operator=(const ProgressThread &) = delete;

  /// `work` must not throw.
  Ticket submit(std::function<void()> work);
  /// Waits until that work, and all before it, is done: what it wrote is then seen by the caller.
  void await(Ticket ticket);
  void awaitAll() { await(submitted.load(std::memory_order_relaxed)); }
  bool isIdle() const { return completed.load(std::memory_order_acquire) == submitted.load(); }

private:
  void run();
  /// Whether `condition` comes true while looking.
  template <typename Condition> bool look(Condition condition) const;

  const bool mayWaste;
  std::mutex mutex;
  std::condition_variable given, done;
  std::deque<std::function<void()>> queue; ///< guarded by `mutex`
  bool ending = false;                     ///< guarded by `mutex`
  std::atomic<uint64_t> submitted{0}, completed{0};
  std::thread thread; ///< last: it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_PROGRESS_PROGRESSTHREAD_H
