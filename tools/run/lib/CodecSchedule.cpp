//===-- CodecSchedule.cpp - Codecs of an operand over time ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/CodecSchedule.h"

#include "cgx/plan/Error.h"
#include "cgx/plan/Plan.h"
#include "cgx/run/Error.h"

using namespace cgx::run;

/// Returns true if plans refer to this operand: the first compressible one of its layer and kind.
static bool isPlanned(const Manifest &manifest, const Collective &collective, size_t operand) {
  const Operand &wanted = collective.operands[operand];
  for (const Collective &other : manifest.collectives)
    for (size_t i = 0; i < other.operands.size(); ++i) {
      const Operand &candidate = other.operands[i];
      if (candidate.isPlannable && candidate.layer == wanted.layer && candidate.kind == wanted.kind)
        return other.id == collective.id && i == operand;
    }
  return false;
}

std::vector<CodecPeriod> cgx::run::codecPeriods(const Manifest &manifest, const Collective &collective,
                                                size_t operand, const std::vector<AdoptedPlan> &plans,
                                                uint64_t firstStep, uint64_t steps) {
  const Operand &described = collective.operands[operand];
  std::vector<CodecPeriod> periods = {{described.codec, steps}};
  if (!isPlanned(manifest, collective, operand))
    return periods;
  for (const AdoptedPlan &adopted : plans) {
    uint64_t left = firstStep + steps - adopted.step;
    periods.back().steps -= left;
    periods.push_back({periods.back().codec, left});
    try {
      for (const plan::PlannedLayer &layer : plan::Plan::parse(adopted.json).layers)
        if (layer.layer == described.layer && layer.kind == described.kind)
          periods.back().codec = described.used(parseCodec(layer.codec));
    } catch (const plan::Error &error) {
      throw Error("the plan of step " + std::to_string(adopted.step) + ": " + error.what());
    }
  }
  return periods;
}
