//===-- DeviceRing.cpp - All-reduces around a ring, on GPUs ----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceRing.h"

#include "cuda/ChunkLister.h"

namespace cgx {

/// The position, and the chunk, `distance` before one.
static uint32_t before(uint32_t position, uint32_t distance, uint32_t ranks) {
  return (position + 2 * ranks - distance) % ranks;
}

/// All send to the next rank, from the chunk `lead` before their own backwards.
static std::vector<Round> roundsFrom(uint32_t lead, uint32_t ranks) {
  std::vector<Round> rounds(ranks - 1);
  for (uint32_t hop = 0; hop + 1 < ranks; ++hop)
    for (uint32_t position = 0; position < ranks; ++position)
      rounds[hop].push_back({position, (position + 1) % ranks, before(position, lead + hop, ranks)});
  return rounds;
}

bool DeviceRing::takes(const Execution &execution) const {
  return execution.collective.schedule.algorithm == CGX_ALGORITHM_RING && canReduce(execution);
}

Journey DeviceRing::journey(const Execution &execution) const {
  const uint32_t ranks = execution.group.size();
  return {contributionLayout(execution), resultLayout(execution), roundsFrom(1, ranks), roundsFrom(0, ranks)};
}

void DeviceRing::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  const uint32_t self = operand.execution.self(), ranks = operand.execution.group.size(),
                 prior[] = {before(self, 1, ranks)};
  for (uint32_t hop = 0; hop + 1 < ranks; ++hop) {
    const uint32_t chunk = before(self, 1 + hop, ranks);
    if (hop != 0)
      lister.joined(layers.rounds[hop].reduced, chunk, prior);
    lister.contribution(hop, chunk, hop == 0 ? operand.buffers.input : operand.buffers.output);
  }
  lister.joined(layers.reduced, self, prior, operand.execution.divisor());
  lister.results();
  lister.gathered();
}

} // namespace cgx
