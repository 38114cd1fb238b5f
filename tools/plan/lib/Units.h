//===-- Units.h - Parsing bandwidths and times ------------------*- C++ -*-===//
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

/// Parses a bandwidth such as `1Gbit` or `100 Mbit` to bytes per second. Throws Error.
double parseBandwidth(const std::string &text);

/// Parses a duration such as `50us`, `2ms` or `0.1s` to seconds. Throws Error.
double parseDuration(const std::string &text);

/// Formats a duration: `1.23 ms`.
std::string durationText(double seconds);

} // namespace cgx::plan

#endif // CGX_TOOLS_PLAN_UNITS_H
