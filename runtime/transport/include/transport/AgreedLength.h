//===-- transport/AgreedLength.h - How long messages of a group are -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where every rank sends to every other one at once, some receivers wait while others have a queue. With
// more, shorter messages in the same queues that happens less often; with longer ones messages cost less
// processor time. So messages are as long as the link carries in a part of a millisecond.
//
// Who receives must know how long messages are. Each rank says with its results what length it wishes, by
// what it has received in how much time. All results have come to all ranks when an exchange ends: then all
// know the same wishes, and the next exchange has the longest of them. A rank that was late, and believes
// that the link is slow, makes nobody's messages short.
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

  /// The lengths in bytes that there are; with the last one a message is as long as its transport likes.
  static constexpr std::array<uint64_t, 3> kLengths = {8 * 1024, 36 * 1024,
                                                       std::numeric_limits<uint64_t>::max()};
  /// The time for which a message should keep a link.
  static constexpr std::chrono::microseconds kOnLink{256};
  /// What an exchange must have brought to tell how fast the link is.
  static constexpr uint64_t kTelling = 1 << 20;

  /// An exchange of that many ranks begins.
  void begin(uint32_t ranks);
  /// The most bytes of a message of this exchange. The same on all ranks.
  uint64_t bytes() const { return kLengths[agreed]; }

  /// This rank sends a result to all others: what it says with it, an index into kLengths.
  uint32_t say(uint32_t self) { return said[self] = own; }
  /// The rank at `position` has said so with a result. A larger number than there are lengths means the last.
  void hear(uint32_t position, uint32_t wish);

  /// So many bytes have come since all ranks take part.
  void noteReceived(uint64_t count, Clock::time_point now);
  /// The exchange is over: all results have come.
  void end();

private:
  static constexpr uint32_t kLongest = kLengths.size() - 1;

  uint32_t agreed = kLongest, own = kLongest;
  std::vector<uint32_t> said; ///< by position, what its last result said; the longest before that
  std::optional<Clock::time_point> began;
  Clock::time_point last;
  uint64_t received = 0; ///< after `began`
  double fastest = 0;    ///< bytes per second
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_AGREEDLENGTH_H
