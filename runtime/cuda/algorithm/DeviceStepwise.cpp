//===-- DeviceStepwise.cpp - Ring and tree all-reduces on GPUs ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceStepwise.h"

#include "cuda/layers/ChunkLister.h"

#include <map>

namespace cgx {

bool DeviceStepwise::takes(const Execution &execution) const {
  const uint32_t algorithm = execution.collective.schedule.algorithm;
  return (algorithm == CGX_ALGORITHM_RING || algorithm == CGX_ALGORITHM_TREE) && canReduce(execution);
}

void DeviceStepwise::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  const cgx_pattern &pattern = operand.execution.pattern;
  const uint32_t self = operand.execution.self();
  const std::vector<Step> steps = scheduleOf(pattern, self).contributions;
  std::map<uint32_t, std::vector<uint32_t>> senders; ///< senders so far, by chunk
  for (uint32_t step = 0; step < steps.size(); ++step) {
    for (const Transfer &transfer : steps[step].sends) {
      const std::vector<uint32_t> &added = senders[transfer.chunk];
      if (!added.empty())
        lister.joined(layers.rounds[step].reduced, transfer.chunk, added);
      lister.contribution(step, transfer.chunk,
                          added.empty() ? operand.buffers.input : operand.buffers.output);
    }
    for (const Transfer &transfer : steps[step].receives)
      senders[transfer.chunk].push_back(transfer.from);
  }
  if (pattern.cut != CGX_CUT_ONE || self == pattern.owner) {
    lister.joined(layers.reduced, self, senders[self], operand.execution.divisor());
    lister.results();
  }
  lister.gathered();
}

} // namespace cgx
