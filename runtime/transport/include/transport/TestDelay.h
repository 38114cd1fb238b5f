//===-- transport/TestDelay.h - Luck that can be repeated -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What goes wrong by chance goes wrong between two steps of one rank, in which others were faster than ever
// before. A build with CGX_TEST_DELAYS waits there now and then, so that tests find in minutes what load
// finds in days: where the environment has CGX_TEST_DELAYS=NUMBER, for times that follow from that number,
// the place, how often the process has come there, and how many processes were forked before it. Tests and
// tools/check --soak print the number. Any other build, and any other environment, waits nowhere.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TESTDELAY_H
#define CGX_RUNTIME_TRANSPORT_TESTDELAY_H

#include <cstdint>

namespace cgx {

#ifdef CGX_TEST_DELAYS
/// Waits here, one time of about `oneIn`, for up to 50 ms and mostly less.
void testDelay(const char *place, uint32_t oneIn = 4);
#else
inline void testDelay(const char *, uint32_t = 4) {}
#endif

/// Of what happens with every message.
inline constexpr uint32_t kSeldom = 256;

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_TESTDELAY_H
