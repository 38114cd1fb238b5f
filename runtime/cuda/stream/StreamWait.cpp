//===-- StreamWait.cpp - Waiting for a stream -----------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/stream/StreamWait.h"

#include "cuda/stream/DeviceStatus.h"
#include "transport/WaitLoop.h"

namespace cgx {

/// Waits sleep only this long, because a GPU rings no doorbell.
static constexpr std::chrono::microseconds kNaps{50};

static std::set<uint32_t> othersOf(const Transport &transport) {
  std::set<uint32_t> others;
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank)
    if (rank != transport.rank())
      others.insert(rank);
  return others;
}

/// Waits until poll(done) sets `done`.
template <typename Poll>
static Status waitFor(Transport &transport, std::chrono::milliseconds timeout, Poll poll) {
  DeviceLink *link = transport.deviceLink();
  WaitLoop waiting(transport, timeout, kNaps);
  for (;;) {
    bool done = false;
    if (Status status = statusOf(poll(done)); !status.ok() || done)
      return status;
    Status status = link ? link->check() : Status();
    if (status.ok())
      status = waiting.turn(/*worked=*/false, [&] { return othersOf(transport); });
    if (!status.ok()) {
      if (link)
        link->abort();
      return status;
    }
  }
}

Status waitForStream(Transport &transport, std::chrono::milliseconds timeout, cuda::Stream stream) {
  if (transport.ranks() == 1) // no other rank can be the cause
    return statusOf(cuda::waitFor(stream));
  return waitFor(transport, timeout, [&](bool &done) { return cuda::poll(stream, done); });
}

Status waitForEvent(Transport &transport, std::chrono::milliseconds timeout, const cuda::Event &event) {
  return waitFor(transport, timeout, [&](bool &done) { return event.poll(done); });
}

} // namespace cgx
