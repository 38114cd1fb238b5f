//===-- transport/Pace.h - How much to have on its way ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where every rank sends to every other one at once, what the network cannot take yet waits in the queue of
// some switch, in front of the receiver that several senders have chosen. A queue that is full drops, and
// what is dropped crosses the sender's link twice. So a rank has no more on its way than keeps its link busy.
//
// In an exchange where a rank gets about as many messages as it gives, what has come tells how many of its
// own have: the others have sent as many. From the time between sending the k-th and receiving the k-th
// follows how long queues are, and the window is opened or closed by that.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_PACE_H
#define CGX_RUNTIME_TRANSPORT_PACE_H

#include <chrono>
#include <cstdint>
#include <deque>

namespace cgx {

class Pace {
public:
  using Clock = std::chrono::steady_clock;

  /// The time that messages should wait in queues: enough to bridge what ranks compute or wait for a core,
  /// and less than queues hold.
  static constexpr std::chrono::milliseconds kQueueing{30};
  /// What a transport has room for is less.
  static constexpr double kWidest = 64;

  /// An exchange begins, in which as many as `narrowest` messages must always be on their way.
  void begin(uint32_t narrowest);

  /// Whether another message may be sent before more have come.
  bool maySend() const { return double(onTheirWay.size()) < window; }
  void noteSent(Clock::time_point now);
  /// So many have come since the exchange began.
  void noteReceived(uint64_t count, Clock::time_point now);

  double width() const { return window; }

private:
  struct Sent {
    Clock::time_point at;
    bool isAnswered; ///< something had come from the others before: they take part by now
  };

  double narrowest = 1, window = 0;
  std::deque<Sent> onTheirWay;
  uint64_t sent = 0, received = 0;
  Clock::duration shortest = Clock::duration::max(); ///< time of a message where queues are empty
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_PACE_H
