//===-- MachineLink.h - The link of a measured machine ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_PLAN_MACHINELINK_H
#define CGX_TOOLS_PLAN_MACHINELINK_H

#include "cgx/plan/Problem.h"

namespace cgx::plan {

/// Returns true if a link is given as a file and not as a bandwidth.
bool isMachineFile(const std::string &link);

/// Loads the link between hosts from a file of `cgx-bench calibrate`. Throws Error.
Link loadMachineLink(const std::string &path);

} // namespace cgx::plan

#endif // CGX_TOOLS_PLAN_MACHINELINK_H
