//===-- transport/CongestionWindow.h - How many messages may be in flight -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A congestion window. When every rank sends to every other one at once, messages that the network cannot
// take yet wait in the queue of a switch, in front of a receiver that several senders have chosen. A full
// queue drops packets, and a dropped packet crosses the sender's link twice. So a rank has no more messages
// in flight than keep its link busy.
//
// In an exchange where a rank receives about as many messages as it sends, the number received tells how many
// of its own have arrived, since the others have sent as many. The time between sending the k-th and
// receiving the k-th tells how long queues are, and opens or closes the window.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_CONGESTIONWINDOW_H
#define CGX_RUNTIME_TRANSPORT_CONGESTIONWINDOW_H

#include <chrono>
#include <cstdint>
#include <deque>

namespace cgx {

class CongestionWindow {
public:
  using Clock = std::chrono::steady_clock;

  /// The time that messages should wait in queues: long enough to bridge what ranks compute or wait for a
  /// core, and shorter than queues hold.
  static constexpr std::chrono::milliseconds kQueueing{30};
  /// The widest window; transports have buffer space for fewer messages.
  static constexpr double kWidest = 64;

  /// Begins an exchange in which at least `narrowest` messages must always be in flight.
  void begin(uint32_t narrowest);

  /// Returns true if another message may be sent before more have arrived.
  bool maySend() const { return double(onTheirWay.size()) < window; }
  void noteSent(Clock::time_point now);
  /// Records how many messages have arrived since the exchange began.
  void noteReceived(uint64_t count, Clock::time_point now);

  double width() const { return window; }

private:
  struct Sent {
    Clock::time_point at;
    bool isAnswered; ///< messages of the others had arrived before it was sent: they take part
  };

  double narrowest = 1, window = 0;
  std::deque<Sent> onTheirWay;
  uint64_t sent = 0, received = 0;
  Clock::duration shortest = Clock::duration::max(); ///< time of a message when queues are empty
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_CONGESTIONWINDOW_H
