//===-- transport/AgreedLength.cpp - How long messages of a group are -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/AgreedLength.h"

#include <algorithm>

namespace cgx {

/// Part of the highest speed that is forgotten with each exchange: a link may have become slower.
static constexpr double kSpeedForgotten = 1.0 / 16;

/// The length that is closest to what the link carries in kOnLink.
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
    began = now; // of what has come by then nobody knows in how much time
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
