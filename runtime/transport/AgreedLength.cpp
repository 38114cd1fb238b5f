//===-- transport/AgreedLength.cpp - The length of messages in a group -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/AgreedLength.h"

#include <algorithm>

namespace cgx {

/// The share of the highest speed that each exchange forgets, since a link may have become slower.
static constexpr double kSpeedForgotten = 1.0 / 16;

/// Returns the index of the length that the link carries in about kOnLink.
static uint32_t lengthFor(double bytesPerSecond) {
  const double wanted = bytesPerSecond * std::chrono::duration<double>(AgreedLength::kOnLink).count();
  return wanted < 17 * 1024 ? 0 : wanted < 42 * 1024 ? 1 : 2;
}

void AgreedLength::begin(uint32_t ranks) {
  said.resize(ranks, kLongest);
  agreed = *std::max_element(said.begin(), said.end());
  began.reset();
  received = 0;
}

void AgreedLength::hear(uint32_t position, uint32_t wish) { said[position] = std::min(wish, kLongest); }

void AgreedLength::noteReceived(uint64_t count, Clock::time_point now) {
  if (began)
    received += count;
  else
    began = now; // nobody knows how long the bytes that had already arrived took
  last = now;
}

void AgreedLength::end() {
  if (received < kTelling || last <= *began)
    return;
  const double speed = double(received) / std::chrono::duration<double>(last - *began).count();
  fastest = std::max(fastest * (1 - kSpeedForgotten), speed);
  own = lengthFor(fastest);
}

} // namespace cgx
