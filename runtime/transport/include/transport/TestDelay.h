//===-- transport/TestDelay.h - Repeatable random delays --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rare race happens when other ranks were faster than ever between two instructions of one rank. A build
// with CGX_TEST_DELAYS waits at such places now and then, so that tests find in minutes what load finds in
// days. The environment variable CGX_TEST_DELAYS=NUMBER turns the delays on; their lengths follow from that
// number, the place, how often the process has come there, and how many processes were forked before it.
// Tests and tools/check --soak print the number. No other build, and no other environment, waits.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TESTDELAY_H
#define CGX_RUNTIME_TRANSPORT_TESTDELAY_H

#include <cstdint>

namespace cgx {

#ifdef CGX_TEST_DELAYS
/// Waits in about one of `oneIn` calls, for up to 50 ms and mostly less.
void testDelay(const char *place, uint32_t oneIn = 4);
#else
inline void testDelay(const char *, uint32_t = 4) {}
#endif

/// The `oneIn` of places that every message passes.
inline constexpr uint32_t kSeldom = 256;

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_TESTDELAY_H
