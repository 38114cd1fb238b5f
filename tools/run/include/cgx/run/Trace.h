//===-- cgx/run/Trace.h - Timeline of all ranks -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_TRACE_H
#define CGX_RUN_TRACE_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// Returns the events of all ranks as a file for Perfetto or chrome://tracing. Time starts at the first
/// event.
std::string writeTrace(const std::vector<Outcome> &outcomes);

} // namespace cgx::run

#endif // CGX_RUN_TRACE_H
