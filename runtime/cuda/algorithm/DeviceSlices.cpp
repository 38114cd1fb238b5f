//===-- DeviceSlices.cpp - Slices of tensors, encoded on a GPU ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceSlices.h"

#include "collective/Slices.h"
#include "cuda/layers/PartLister.h"

#include <algorithm>
#include <limits>

namespace cgx {

/// Returns true if there are kernels for all operands of a collective of this kind, of which a rank encodes
/// its tensor in `parts` payloads of equal size, and if residuals fit that.
static bool canEncode(const Execution &execution, CollectiveKind kind, uint64_t parts) {
  const CollectiveInfo &collective = execution.collective;
  // A rank alone has nothing to exchange, but a permutation may send to itself.
  if (collective.kind != kind || (execution.group.size() == 1 && kind != CollectiveKind::Permute))
    return false;
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    if (!hasKernels(operand))
      return false;
    if (operand.errorFeedback &&
        (!DeviceResidual::keeps(execution.states[i].contribution, 0, operand.elements) ||
         (operand.errorFeedback->storage == ResidualStorage::Int8 && parts != 1 &&
          operand.elements / parts % residualBlock != 0)))
      return false;
  }
  return true;
}

static SliceRows rowsOf(const std::vector<uint64_t> &shape, uint64_t dim, uint64_t slices,
                        uint64_t elementBytes) {
  const DimensionView view = viewAround(shape, dim);
  const uint64_t width = view.size / slices * view.inner * elementBytes;
  return {view.outer, width, width * slices};
}

/// Returns the rows of the operand, divided along a dimension; or of a result of which the operand is a
/// slice.
static SliceRows rowsOfOperand(const Execution &execution, const OperandInfo &operand, uint64_t dim) {
  return rowsOf(operand.shape, dim, execution.group.size(), cgx_element_bytes(operand.type));
}

static SliceRows rowsOfGathered(const Execution &execution, const OperandInfo &operand) {
  std::vector<uint64_t> shape = operand.shape;
  shape[execution.collective.dim] *= execution.group.size();
  return rowsOf(shape, execution.collective.dim, execution.group.size(), cgx_element_bytes(operand.type));
}

static SliceRows rowsOfExchanged(const Execution &execution, const OperandInfo &operand) {
  std::vector<uint64_t> shape = operand.shape;
  shape[execution.collective.splitDim] /= execution.group.size();
  shape[execution.collective.concatDim] *= execution.group.size();
  return rowsOf(shape, execution.collective.concatDim, execution.group.size(),
                cgx_element_bytes(operand.type));
}

/// Returns true if a GPU can copy rows of all operands.
template <typename RowsOf> static bool canCopy(const Execution &execution, RowsOf rowsOf) {
  const std::vector<OperandInfo> &operands = execution.collective.operands;
  return std::all_of(operands.begin(), operands.end(), [&](const OperandInfo &operand) {
    return rowsOf(operand).pitch <= uint64_t(std::numeric_limits<int32_t>::max());
  });
}

bool DeviceAllGather::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::AllGather, /*parts=*/1) &&
         canCopy(execution, [&](const OperandInfo &operand) { return rowsOfGathered(execution, operand); });
}

void DeviceAllGather::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const PartLister lister(operand, /*parts=*/1, layers, /*read=*/{},
                          rowsOfGathered(operand.execution, operand.info()));
  lister.whole();
  for (uint32_t position = 0; position < operand.execution.group.size(); ++position)
    lister.decoded(layers.gathered, operand.route.result(operand.index, position), position, position);
}

bool DeviceReduceScatter::takes(const Execution &execution) const {
  const CollectiveInfo &collective = execution.collective;
  return canEncode(execution, CollectiveKind::ReduceScatter, execution.group.size()) &&
         canCopy(
             execution,
             [&](const OperandInfo &operand) { return rowsOfOperand(execution, operand, collective.dim); }) &&
         (isLinear(collective.reduction) ||
          std::all_of(collective.operands.begin(), collective.operands.end(),
                      [](const OperandInfo &operand) { return operand.isUncompressed(); }));
}

void DeviceReduceScatter::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const Execution &execution = operand.execution;
  const PartLister lister(operand, execution.group.size(), layers,
                          rowsOfOperand(execution, operand.info(), execution.collective.dim));
  lister.contributions();
  lister.reduced();
}

bool DeviceAllToAll::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::AllToAll, execution.group.size()) &&
         canCopy(execution,
                 [&](const OperandInfo &operand) {
                   return rowsOfOperand(execution, operand, execution.collective.splitDim);
                 }) &&
         canCopy(execution, [&](const OperandInfo &operand) { return rowsOfExchanged(execution, operand); });
}

void DeviceAllToAll::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const Execution &execution = operand.execution;
  const PartLister lister(operand, execution.group.size(), layers,
                          rowsOfOperand(execution, operand.info(), execution.collective.splitDim),
                          rowsOfExchanged(execution, operand.info()));
  lister.contributions();
  for (uint32_t position = 0; position < execution.group.size(); ++position)
    lister.decoded(layers.received, operand.route.received(operand.index, position, operand.execution.self()),
                   position, position);
}

bool DeviceBroadcast::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::Broadcast, /*parts=*/1);
}

void DeviceBroadcast::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const uint32_t root = operand.execution.collective.root;
  const PartLister lister(operand, /*parts=*/1, layers);
  if (operand.execution.self() == root)
    lister.whole();
  lister.decoded(layers.gathered, operand.route.result(operand.index, root), root, /*part=*/0);
}

bool DevicePermute::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::Permute, /*parts=*/1);
}

void DevicePermute::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const PartLister lister(operand, /*parts=*/1, layers);
  const uint32_t self = operand.execution.self();
  bool isTarget = false;
  for (auto [from, to] : operand.execution.pairs()) {
    if (from == self)
      lister.contribution();
    if (to == self)
      lister.decoded(layers.received, operand.route.received(operand.index, from, /*chunk=*/0), from,
                     /*part=*/0);
    isTarget = isTarget || to == self;
  }
  if (!isTarget)
    lister.cleared();
}

} // namespace cgx
