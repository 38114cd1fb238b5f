//===-- DeviceStepwise.cpp - Ring and tree all-reduces on GPUs ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceStepwise.h"

#include "cuda/layers/ChunkLister.h"

#include <algorithm>
#include <map>

namespace cgx {

/// Returns whether no payload varies in size: a message of the host that varies holds one chunk.
static bool areAllFixed(const Execution &execution) {
  return std::ranges::all_of(execution.collective.operands, [](const OperandInfo &operand) {
    return cgx_payload_is_fixed(&operand.codecOf(kContribution)) &&
           cgx_payload_is_fixed(&operand.codecOf(kResult));
  });
}

bool DeviceStepwise::takes(const Execution &execution) const {
  return cgx_executor_of(execution.collective.schedule.algorithm) == CGX_EXECUTE_STEPWISE &&
         (!cgx_sends_several_chunks(&execution.pattern) || areAllFixed(execution)) && canReduce(execution);
}

void DeviceStepwise::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  const cgx_pattern &pattern = operand.execution.pattern;
  const uint32_t self = operand.execution.self();
  const std::vector<Step> steps = scheduleOf(pattern, self).contributions;
  std::map<uint32_t, std::vector<uint32_t>> senders; ///< senders so far, by chunk
  for (uint32_t step = 0; step < steps.size(); ++step) {
    forEachChunk(steps[step].sends, [&](const Transfer &, uint32_t chunk) {
      const std::vector<uint32_t> &added = senders[chunk];
      if (!added.empty())
        lister.joined(layers.rounds[step].reduced, chunk, added);
      lister.contribution(step, chunk, added.empty() ? operand.buffers.input : operand.buffers.output);
    });
    forEachChunk(steps[step].receives,
                 [&](const Transfer &transfer, uint32_t chunk) { senders[chunk].push_back(transfer.from); });
  }
  if (pattern.cut != CGX_CUT_ONE || self == pattern.owner) {
    lister.joined(layers.reduced, self, senders[self], operand.execution.divisor());
    lister.results();
  }
  lister.gathered();
}

} // namespace cgx
