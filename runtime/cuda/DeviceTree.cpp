//===-- DeviceTree.cpp - All-reduces up a tree and down, on GPUs -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceTree.h"

#include "cuda/ChunkLister.h"

#include <algorithm>
#include <bit>

namespace cgx {

/// The whole operand is chunk 0, of which the first rank makes the result.
static constexpr uint32_t kWhole = 0;

static Execution withOneOwner(const Execution &execution) {
  Execution whole = execution;
  whole.hasOneOwner = true;
  return whole;
}

/// The round in which a position but the first sends to its parent: those of its children are before.
static uint32_t levelOf(uint32_t position) { return uint32_t(std::countr_zero(position)); }

bool DeviceTree::takes(const Execution &execution) const {
  return execution.collective.schedule.algorithm == CGX_ALGORITHM_TREE && canReduce(withOneOwner(execution));
}

Journey DeviceTree::journey(const Execution &execution) const {
  const Execution whole = withOneOwner(execution);
  const uint32_t ranks = execution.group.size(), levels = uint32_t(std::bit_width(ranks - 1));
  Journey journey = {contributionLayout(whole), resultLayout(whole), std::vector<Round>(levels),
                     std::vector<Round>(levels)};
  for (uint32_t position = 1; position < ranks; ++position) {
    const uint32_t level = levelOf(position);
    journey.scattering[level].push_back({position, treeParent(position), kWhole});
    journey.gathering[levels - 1 - level].push_back({treeParent(position), position, kWhole});
  }
  return journey;
}

void DeviceTree::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const Execution whole = withOneOwner(operand.execution);
  const ListedOperand listed = {whole,         operand.index,     operand.buffers,
                                operand.route, operand.residuals, operand.optimizer};
  const ChunkLister lister(listed, layers);
  const uint32_t self = whole.self();
  const std::vector<uint32_t> children = treeChildren(self, whole.group.size());
  if (self == 0) {
    lister.joined(layers.reduced, kWhole, children, operand.execution.divisor());
    lister.results();
  } else {
    const uint32_t level = levelOf(self);
    if (!children.empty())
      lister.joined(layers.rounds[level].reduced, kWhole, children);
    lister.contribution(level, kWhole, children.empty() ? operand.buffers.input : operand.buffers.output);
  }
  lister.gathered();
}

} // namespace cgx
