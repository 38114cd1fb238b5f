//===-- DeviceAllReduce.cpp - All-reduces that are encoded on a GPU -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceAllReduce.h"

#include "cuda/layers/ChunkLister.h"

#include <algorithm>

namespace cgx {

bool DeviceAllReduce::takes(const Execution &execution) const {
  return cgx_executor_of(execution.collective.schedule.algorithm) == CGX_EXECUTE_SCATTER &&
         canReduce(execution);
}

void DeviceAllReduce::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.contributions();
  if (lister.isFused()) {
    lister.owned();
  } else {
    lister.reduced();
    lister.results();
  }
  lister.gathered();
}

bool DeviceScatterReduce::takes(const Execution &execution) const { return canReduce(execution); }

void DeviceScatterReduce::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.contributions();
  lister.reduced();
}

bool DeviceChunkGather::takes(const Execution &execution) const { return canReduce(execution); }

void DeviceChunkGather::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.results();
  lister.gathered();
}

bool DeviceOneShot::takes(const Execution &execution) const {
  return cgx_executor_of(execution.collective.schedule.algorithm) == CGX_EXECUTE_COPIES &&
         canReduce(execution) &&
         std::ranges::none_of(execution.collective.operands,
                              [](const OperandInfo &operand) { return operand.errorFeedback.has_value(); });
}

void DeviceOneShot::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const ChunkLister lister(operand, layers);
  lister.contributions();
  lister.reduced();
}

} // namespace cgx
