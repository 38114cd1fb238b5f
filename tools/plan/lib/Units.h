//===-- Units.h - Bandwidths and times as people write them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_TOOLS_PLAN_UNITS_H
#define CGX_TOOLS_PLAN_UNITS_H

#include <string>

namespace cgx::plan {

/// Bytes per second of `1Gbit`, `100 Mbit`. Throws Error.
double parseBandwidth(const std::string &text);

/// Seconds of `50us`, `2ms`, `0.1s`. Throws Error.
double parseDuration(const std::string &text);

/// `1.23 ms`.
std::string durationText(double seconds);

} // namespace cgx::plan

#endif // CGX_TOOLS_PLAN_UNITS_H
