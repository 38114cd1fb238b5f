//===-- progress/ProgressThread.h - A thread for communication --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that executes submitted work in order. Only one thread submits.
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
  /// The name of submitted work.
  using Ticket = uint64_t;

  /// `mayWaste` tells whether a processor is to spare: then both sides spin for a moment before they sleep,
  /// because waking up takes longer than a small collective.
  explicit ProgressThread(bool mayWaste);
  /// Waits for all work.
  ~ProgressThread();
  ProgressThread(const ProgressThread &) = delete;
  ProgressThread &operator=(const ProgressThread &) = delete;

  /// `work` must not throw.
  Ticket submit(std::function<void()> work);
  /// Waits until that work, and all before it, is done. The caller then sees what it wrote.
  void await(Ticket ticket);
  void awaitAll() { await(submitted.load(std::memory_order_relaxed)); }
  bool isIdle() const { return completed.load(std::memory_order_acquire) == submitted.load(); }

private:
  void run();
  /// Spins for a moment; returns true if `condition` became true.
  template <typename Condition> bool look(Condition condition) const;

  const bool mayWaste;
  std::mutex mutex;
  std::condition_variable given, done;
  std::deque<std::function<void()>> queue; ///< guarded by `mutex`
  bool ending = false;                     ///< guarded by `mutex`
  std::atomic<uint64_t> submitted{0}, completed{0};
  std::thread thread; ///< last member, because it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_PROGRESS_PROGRESSTHREAD_H
