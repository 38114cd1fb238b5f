//===-- cgx/run/CodecSchedule.h - Codecs of an operand over time -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUN_CODECSCHEDULE_H
#define CGX_RUN_CODECSCHEDULE_H

#include "cgx/run/Manifest.h"
#include "cgx/run/Planning.h"

namespace cgx::run {

/// A codec of an operand, and the steps for which it was used.
struct CodecPeriod {
  cgx_codec codec;
  uint64_t steps;
};

/// Returns the codecs that an operand used in a run of `steps` steps from `firstStep` on, in which `plans`
/// were adopted. Throws Error for a plan that cannot be read.
std::vector<CodecPeriod> codecPeriods(const Manifest &manifest, const Collective &collective, size_t operand,
                                      const std::vector<AdoptedPlan> &plans, uint64_t firstStep,
                                      uint64_t steps);

} // namespace cgx::run

#endif // CGX_RUN_CODECSCHEDULE_H
