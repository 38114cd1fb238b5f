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
#include <limits>

namespace cgx {

/// Whether there are kernels for all operands of a collective of this kind, of which a rank encodes its
/// tensor in `parts` payloads of equal size, and residuals for that.
static bool canEncode(const Execution &execution, CollectiveKind kind, uint64_t parts) {
  const CollectiveInfo &collective = execution.collective;
  // What is alone has nothing to exchange, but may be sent to itself.
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

namespace {

/// A slice of a tensor: rows of bytes that lie together. Slice k begins behind k of the first slice's rows.
struct SliceRows {
  uint64_t count = 1, width = 0, pitch = 0;
};

SliceRows rowsOf(const std::vector<uint64_t> &shape, uint64_t dim, uint64_t slices, uint64_t elementBytes) {
  const DimensionView view = viewAround(shape, dim);
  const uint64_t width = view.size / slices * view.inner * elementBytes;
  return {view.outer, width, width * slices};
}

} // namespace

/// Of the operand, cut along a dimension; or of a result, in which the operand is a slice.
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

/// Whether a GPU can copy rows of all operands.
template <typename RowsOf> static bool canCopy(const Execution &execution, RowsOf rowsOf) {
  const std::vector<OperandInfo> &operands = execution.collective.operands;
  return std::all_of(operands.begin(), operands.end(), [&](const OperandInfo &operand) {
    return rowsOf(operand).pitch <= uint64_t(std::numeric_limits<int32_t>::max());
  });
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
  PartLister(const ListedOperand &listed, uint64_t parts, RoutedLayers &layers, SliceRows read = {},
             SliceRows written = {})
      : listed(listed), info(listed.info()), count(listed.execution.group.size()),
        elements(info.elements / parts), bytes(elements * cgx_element_bytes(info.type)), read(read),
        written(written), layers(layers) {}

  /// A part for each rank.
  void contributions() const {
    for (uint32_t part = 0; part < count; ++part)
      layers.rounds.front().contributions.push_back(
          {listed.encoded(kContribution, part * elements, elements,
                          listed.route.contribution(listed.index, part)),
           inputOf(part)});
  }

  /// The tensor, for all.
  void whole() const {
    layers.results.push_back(
        {listed.encoded(kContribution, /*first=*/0, elements, listed.route.ownResult(listed.index)),
         listed.buffers.input});
  }

  /// The tensor, for the one that gets it.
  void contribution() const {
    layers.rounds.front().contributions.push_back(
        {listed.encoded(kContribution, /*first=*/0, elements,
                        listed.route.contribution(listed.index, /*chunk=*/0)),
         listed.buffers.input});
  }

  void cleared() const {
    if (elements != 0)
      layers.cleared.push_back({listed.buffers.output, bytes});
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
      layer.contributions.push_back(listed.route.received(listed.index, position, listed.execution.self()));
      layers.reduced.senders.push_back({listed.index, listed.rankAt(position)});
    }
  }

  /// What came from a position, to the `part`-th part of the output.
  void decoded(ReadLayers<cuda::DecodeLayer> &to, const std::byte *payload, uint32_t position,
               uint64_t part) const {
    if (elements == 0)
      return;
    to.layers.push_back({info.codec, info.type, payload, cgx_payload_bytes(&info.codec, info.type, elements),
                         elements, outputOf(part)});
    to.senders.push_back({listed.index, listed.rankAt(position)});
  }

private:
  const std::byte *inputOf(uint64_t part) const {
    if (read.count == 1)
      return listed.buffers.input + part * bytes;
    std::byte *dense = layers.takeDense(bytes);
    layers.packed.push_back(
        {dense, read.width, listed.buffers.input + part * read.width, read.pitch, read.width, read.count});
    return dense;
  }

  std::byte *outputOf(uint64_t part) const {
    if (written.count == 1)
      return listed.buffers.output + part * bytes;
    std::byte *dense = layers.takeDense(bytes);
    layers.unpacked.push_back({listed.buffers.output + part * written.width, written.pitch, dense,
                               written.width, written.width, written.count});
    return dense;
  }

  const ListedOperand &listed;
  const OperandInfo &info;
  uint32_t count;
  uint64_t elements, bytes; ///< of a part
  SliceRows read, written;  ///< of parts in the operand, and in the result
  RoutedLayers &layers;
};

} // namespace

bool DeviceAllGather::takes(const Execution &execution) const {
  return canEncode(execution, CollectiveKind::AllGather, /*parts=*/1) &&
         canCopy(execution, [&](const OperandInfo &operand) { return rowsOfGathered(execution, operand); });
}

Journey DeviceAllGather::journey(const Execution &execution) const {
  return directJourney(emptyLayout(execution), layoutOfAll(execution, /*parts=*/1), execution.group.size());
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
                      [](const OperandInfo &operand) { return operand.isRaw(); }));
}

Journey DeviceReduceScatter::journey(const Execution &execution) const {
  const uint32_t ranks = execution.group.size();
  return directJourney(layoutOfAll(execution, ranks), emptyLayout(execution), ranks);
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

Journey DeviceAllToAll::journey(const Execution &execution) const {
  const uint32_t ranks = execution.group.size();
  return directJourney(layoutOfAll(execution, ranks), emptyLayout(execution), ranks);
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

Journey DeviceBroadcast::journey(const Execution &execution) const {
  const uint32_t root = execution.collective.root;
  return directJourney(emptyLayout(execution),
                       layoutOf(execution, /*parts=*/1, [&](uint32_t chunk) { return chunk == root; }),
                       execution.group.size());
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

Journey DevicePermute::journey(const Execution &execution) const {
  Journey journey = directJourney(layoutOf(execution, /*parts=*/1, [](uint32_t chunk) { return chunk == 0; }),
                                  emptyLayout(execution), execution.group.size());
  Round &round = journey.scattering.front();
  round.clear();
  for (auto [from, to] : execution.collective.pairs)
    if (from != to)
      round.push_back({from, to, /*chunk=*/0});
  return journey;
}

void DevicePermute::list(const ListedOperand &operand, RoutedLayers &layers) const {
  const PartLister lister(operand, /*parts=*/1, layers);
  const uint32_t self = operand.execution.self();
  bool isTarget = false;
  for (auto [from, to] : operand.execution.collective.pairs) {
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
