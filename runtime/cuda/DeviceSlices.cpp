//===-- DeviceSlices.cpp - Slices of tensors, encoded on a GPU ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceSlices.h"

#include "collective/WideReduction.h"

#include <algorithm>

namespace cgx {

/// Whether there are kernels for all operands of a collective of this kind, of which a rank encodes its
/// tensor in `parts` payloads of equal size, and residuals for that.
static bool canEncode(const Execution &execution, CollectiveKind kind, uint64_t parts) {
  const CollectiveInfo &collective = execution.collective;
  if (collective.kind != kind || execution.group.size() == 1)
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

/// Whether slices of a dimension lie one behind the other in all operands.
static bool areContiguous(const Execution &execution, uint64_t dim) {
  const std::vector<OperandInfo> &operands = execution.collective.operands;
  return std::all_of(operands.begin(), operands.end(),
                     [&](const OperandInfo &operand) { return viewAround(operand.shape, dim).outer == 1; });
}

/// A payload of `1 / parts` of each operand, for each chunk that `isThere`.
template <typename IsThere>
static PayloadLayout layoutOf(const Execution &execution, uint64_t parts, IsThere isThere) {
  PayloadSizes sizes(execution.group.size());
  for (uint32_t chunk = 0; chunk < execution.group.size(); ++chunk)
    for (const OperandInfo &operand : execution.collective.operands)
      sizes[chunk].push_back(
          isThere(chunk) ? cgx_payload_bytes(&operand.codec, operand.type, operand.elements / parts) : 0);
  return PayloadLayout(sizes);
}

static PayloadLayout layoutOfAll(const Execution &execution, uint64_t parts) {
  return layoutOf(execution, parts, [](uint32_t) { return true; });
}

namespace {

/// The layers of one operand that is cut into `parts`.
class PartLister {
public:
  PartLister(const ListedOperand &listed, uint64_t parts, RoutedLayers &layers)
      : listed(listed), info(listed.info()), count(listed.execution.group.size()),
        elements(info.elements / parts), bytes(elements * cgx_element_bytes(info.type)), layers(layers) {}

  /// A part for each rank.
  void contributions() const {
    for (uint32_t part = 0; part < count; ++part)
      layers.contributions.push_back({listed.encoded(kContribution, part * elements, elements,
                                                     listed.route.contribution(listed.index, part)),
                                      listed.buffers.input + part * bytes});
  }

  /// The tensor, for all.
  void whole() const {
    layers.results.push_back(
        {listed.encoded(kContribution, /*first=*/0, elements, listed.route.ownResult(listed.index)),
         listed.buffers.input});
  }

  void reduced() const {
    const ReduceKind reduction = listed.execution.collective.reduction;
    cuda::ReduceLayer &layer = layers.reduced.layers.emplace_back();
    layer.codec = info.codec;
    layer.type = info.type;
    layer.elements = elements;
    layer.divisor = reduction == ReduceKind::Mean ? count : 1;
    layer.reduction = kernelReduction(reduction);
    layer.output = listed.buffers.output;
    for (uint32_t position = 0; elements != 0 && position < count; ++position) {
      layer.contributions.push_back(listed.route.received(listed.index, position));
      layers.reduced.senders.push_back({listed.index, listed.rankAt(position)});
    }
  }

  /// What came from a position, to the `part`-th part of the output.
  void decoded(ReadLayers<cuda::DecodeLayer> &to, const std::byte *payload, uint32_t position,
               uint64_t part) const {
    if (elements == 0)
      return;
    to.layers.push_back({info.codec, info.type, payload, cgx_payload_bytes(&info.codec, info.type, elements),
                         elements, listed.buffers.output + part * bytes});
    to.senders.push_back({listed.index, listed.rankAt(position)});
  }

private:
  const ListedOperand &listed;
  const OperandInfo &info;
  uint32_t count;
  uint64_t elements, bytes; ///< of a part
  RoutedLayers &layers;
};

} // namespace

bool DeviceAllGather::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::AllGather, /*parts=*/1) &&
         areContiguous(execution, execution.collective.dim);
}

PhaseLayouts DeviceAllGather::layouts(const Execution &execution) const {
  return {emptyLayout(execution), layoutOfAll(execution, /*parts=*/1)};
}

void DeviceAllGather::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const PartLister lister(operand, /*parts=*/1, layers);
  lister.whole();
  for (uint32_t position = 0; position < operand.execution.group.size(); ++position)
    lister.decoded(layers.gathered, operand.route.result(operand.index, position), position, position);
}

bool DeviceReduceScatter::takes(const Execution &execution) const {
  const CollectiveInfo &collective = execution.collective;
  const bool isSum = collective.reduction == ReduceKind::Sum || collective.reduction == ReduceKind::Mean;
  return canEncode(execution, CollectiveKind::ReduceScatter, execution.group.size()) &&
         areContiguous(execution, collective.dim) &&
         (isSum || std::all_of(collective.operands.begin(), collective.operands.end(),
                               [](const OperandInfo &operand) { return operand.isRaw(); }));
}

PhaseLayouts DeviceReduceScatter::layouts(const Execution &execution) const {
  return {layoutOfAll(execution, execution.group.size()), emptyLayout(execution)};
}

void DeviceReduceScatter::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const PartLister lister(operand, operand.execution.group.size(), layers);
  lister.contributions();
  lister.reduced();
}

bool DeviceAllToAll::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::AllToAll, execution.group.size()) &&
         areContiguous(execution, execution.collective.splitDim) &&
         areContiguous(execution, execution.collective.concatDim);
}

PhaseLayouts DeviceAllToAll::layouts(const Execution &execution) const {
  return {layoutOfAll(execution, execution.group.size()), emptyLayout(execution)};
}

void DeviceAllToAll::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const PartLister lister(operand, operand.execution.group.size(), layers);
  lister.contributions();
  for (uint32_t position = 0; position < operand.execution.group.size(); ++position)
    lister.decoded(layers.received, operand.route.received(operand.index, position), position, position);
}

bool DeviceBroadcast::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::Broadcast, /*parts=*/1);
}

PhaseLayouts DeviceBroadcast::layouts(const Execution &execution) const {
  const uint32_t root = execution.collective.root;
  return {emptyLayout(execution),
          layoutOf(execution, /*parts=*/1, [&](uint32_t chunk) { return chunk == root; })};
}

void DeviceBroadcast::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const uint32_t root = operand.execution.collective.root;
  const PartLister lister(operand, /*parts=*/1, layers);
  if (operand.execution.self() == root)
    lister.whole();
  lister.decoded(layers.gathered, operand.route.result(operand.index, root), root, /*part=*/0);
}

} // namespace cgx
