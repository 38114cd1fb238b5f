//===-- EmulatedStreams.cpp - Streams of an emulated GPU ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedStreams.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

struct CUstream_st {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool isBusy = false, isEnding = false;
  std::thread worker;
};

namespace cgx::cuda {
namespace {

bool areLate() {
  static const bool late = std::getenv("CGX_TEST_LATE_STREAMS") != nullptr;
  return late;
}

/// The number of points that were recorded on a stream, and of those that it has reached.
struct Points {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, reached = 0;
};

// The registry of streams and events. It is never destroyed, because streams may work until the process ends.
struct Registry {
  std::mutex mutex;
  std::map<int, Stream> defaults; ///< by device
  std::map<Stream, std::unique_ptr<CUstream_st>> streams;
  std::map<CUevent_st *, std::shared_ptr<Points>> events;
};
Registry &registry() {
  static auto &all = *new Registry;
  return all;
}

/// Runs a stream. Some pieces of work are delayed at random.
void workOn(CUstream_st &stream, uint64_t seed) {
  std::minstd_rand random{uint32_t(seed)};
  std::unique_lock lock(stream.mutex);
  for (;;) {
    stream.changed.wait(lock, [&] { return stream.isEnding || !stream.work.empty(); });
    if (stream.work.empty())
      return;
    const std::function<void()> next = std::move(stream.work.front());
    stream.work.pop_front();
    stream.isBusy = true;
    lock.unlock();
    if (random() % 4 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    next();
    lock.lock();
    stream.isBusy = false;
    stream.changed.notify_all();
  }
}

/// Starts a stream. `registry().mutex` must be held.
CUstream_st *startStream() {
  auto made = std::make_unique<CUstream_st>();
  CUstream_st *stream = made.get();
  registry().streams[stream] = std::move(made);
  stream->worker = std::thread(workOn, std::ref(*stream), registry().streams.size());
  return stream;
}

CUstream_st &find(Stream stream) {
  if (stream)
    return *stream;
  const std::lock_guard lock(registry().mutex);
  Stream &ofDevice = registry().defaults[emulatedDevice];
  if (!ofDevice)
    ofDevice = startStream();
  return *ofDevice;
}

void waitForStream(CUstream_st &stream) {
  std::unique_lock lock(stream.mutex);
  stream.changed.wait(lock, [&] { return stream.work.empty() && !stream.isBusy; });
}

/// Returns the points of an event; null for events of other processes.
std::shared_ptr<Points> pointsOf(CUevent_st *event) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().events.find(event);
  return found == registry().events.end() ? nullptr : found->second;
}

} // namespace

void putOn(Stream stream, std::function<void()> work) {
  if (!areLate())
    return work();
  CUstream_st &on = find(stream);
  const std::lock_guard lock(on.mutex);
  on.work.push_back(std::move(work));
  on.changed.notify_all();
}

void waitForWork(Stream stream) {
  if (areLate())
    waitForStream(find(stream));
}

bool isIdle(Stream stream) {
  if (!areLate())
    return true;
  CUstream_st &on = find(stream);
  const std::lock_guard lock(on.mutex);
  return on.work.empty() && !on.isBusy;
}

void waitForAllStreams() {
  std::vector<CUstream_st *> streams;
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto &[handle, stream] : registry().streams)
      streams.push_back(stream.get());
  }
  for (CUstream_st *stream : streams)
    waitForStream(*stream);
}

Outcome makeStream(Stream &stream) {
  const std::lock_guard lock(registry().mutex);
  stream = startStream();
  return {};
}

/// Ends a stream. It stays in the registry, because a thread that waits for all streams may still read it.
void destroyStream(Stream stream) {
  {
    const std::lock_guard lock(stream->mutex);
    stream->isEnding = true;
    stream->changed.notify_all();
  }
  stream->worker.join();
}

void Event::release() {
  const std::lock_guard lock(registry().mutex);
  registry().events.erase(event);
}

Outcome Event::make() {
  *this = Event();
  auto points = std::make_shared<Points>();
  event = reinterpret_cast<CUevent_st *>(points.get());
  const std::lock_guard lock(registry().mutex);
  registry().events[event] = std::move(points);
  return {};
}

/// Records a point on a stream, where waiting threads find it when it is reached.
Outcome Event::record(Stream stream) {
  const std::shared_ptr<Points> points = pointsOf(event);
  const std::lock_guard lock(points->mutex);
  const uint64_t point = ++points->recorded;
  if (!areLate())
    points->reached = point;
  else
    putOn(stream, [points, point] {
      const std::lock_guard lock(points->mutex);
      points->reached = std::max(points->reached, point);
      points->changed.notify_all();
    });
  return {};
}

Outcome Event::poll(bool &done) const {
  const std::shared_ptr<Points> points = pointsOf(event);
  const std::lock_guard lock(points->mutex);
  done = points->reached == points->recorded;
  return {};
}

Outcome waitOn(Stream stream, CUevent_st *event) {
  const std::shared_ptr<Points> points = pointsOf(event);
  if (!points)
    return {};
  uint64_t point = 0;
  {
    const std::lock_guard lock(points->mutex);
    point = points->recorded;
  }
  putOn(stream, [points, point] {
    std::unique_lock lock(points->mutex);
    points->changed.wait(lock, [&] { return points->reached >= point; });
  });
  return {};
}

} // namespace cgx::cuda
