//===-- transport/AgreedLength.h - The length of messages in a group -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When every rank sends to every other one at once, some receivers wait while others have a queue. More,
// shorter messages in the same queues make that rarer; longer ones cost less processor time per byte. So
// messages are as long as the link carries in a fraction of a millisecond.
//
// A receiver must know the length of messages. With its results each rank sends the length it prefers,
// derived from how fast data arrived. When an exchange ends, every rank has all results and thus the same
// preferences, and the next exchange uses the longest. A rank that was late, and therefore believes the link
// to be slow, shortens nobody's messages.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_AGREEDLENGTH_H
#define CGX_RUNTIME_TRANSPORT_AGREEDLENGTH_H

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace cgx {

class AgreedLength {
public:
  using Clock = std::chrono::steady_clock;

  /// The available lengths in bytes; the last one leaves the length to the transport.
  static constexpr std::array<uint64_t, 3> kLengths = {8 * 1024, 36 * 1024,
                                                       std::numeric_limits<uint64_t>::max()};
  /// The time for which a message should occupy a link.
  static constexpr std::chrono::microseconds kOnLink{256};
  /// The fewest bytes of an exchange from which the speed of the link can be estimated.
  static constexpr uint64_t kTelling = 1 << 20;

  /// Begins an exchange of `ranks` ranks.
  void begin(uint32_t ranks);
  /// Returns the most bytes of a message of this exchange. All ranks return the same.
  uint64_t bytes() const { return kLengths[agreed]; }

  /// Records that this rank sends a result to all others. Returns the preferred length that goes with it, an
  /// index into kLengths.
  uint32_t say(uint32_t self) { return said[self] = own; }
  /// Records the preferred length that came with a result of the rank at `position`. An index past the last
  /// length means the last one.
  void hear(uint32_t position, uint32_t wish);

  /// Records how many bytes have arrived since all ranks take part.
  void noteReceived(uint64_t count, Clock::time_point now);
  /// Ends the exchange, after all results have arrived.
  void end();

private:
  static constexpr uint32_t kLongest = kLengths.size() - 1;

  uint32_t agreed = kLongest, own = kLongest;
  std::vector<uint32_t> said; ///< the preference in each position's last result; at first the longest length
  std::optional<Clock::time_point> began;
  Clock::time_point last;
  uint64_t received = 0; ///< bytes since `began`
  double fastest = 0;    ///< bytes per second
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_AGREEDLENGTH_H
