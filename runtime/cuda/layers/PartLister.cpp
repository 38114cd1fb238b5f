//===-- PartLister.cpp - The layers of an operand divided into parts ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/layers/PartLister.h"

#include "cuda/layers/OperandLayers.h"

namespace cgx {

PartLister::PartLister(const ListedOperand &listed, uint64_t parts, RoutedLayers &layers, SliceRows read,
                       SliceRows written)
    : listed(listed), info(listed.info()), count(listed.execution.group.size()),
      elements(info.elements / parts), bytes(elements * cgx_element_bytes(info.type)), read(read),
      written(written), layers(layers) {}

void PartLister::contributions() const {
  for (uint32_t part = 0; part < count; ++part)
    layers.rounds.front().contributions.push_back(
        {listed.encoded(kContribution, part * elements, elements,
                        listed.route.contribution(listed.index, part)),
         inputOf(part)});
}

void PartLister::contribution() const {
  layers.rounds.front().contributions.push_back(
      {listed.encoded(kContribution, /*first=*/0, elements,
                      listed.route.contribution(listed.index, /*chunk=*/0)),
       listed.buffers.input});
}

void PartLister::whole() const {
  layers.results.push_back(
      {listed.encoded(kContribution, /*first=*/0, elements, listed.route.ownResult(listed.index)),
       listed.buffers.input});
}

void PartLister::reduced() const {
  cuda::ReduceLayer &layer = layers.reduced.layers.emplace_back(
      reduceLayer(listed.execution, info, elements, listed.execution.divisor(), listed.buffers.output));
  for (uint32_t position = 0; elements != 0 && position < count; ++position) {
    layer.contributions.push_back(listed.route.received(listed.index, position, listed.execution.self()));
    layers.reduced.senders.push_back({listed.index, listed.rankAt(position)});
  }
}

void PartLister::decoded(ReadLayers<cuda::DecodeLayer> &to, const std::byte *payload, uint32_t position,
                         uint64_t part) const {
  if (elements == 0)
    return;
  to.layers.push_back({info.codec, info.type, payload, cgx_payload_bytes(&info.codec, info.type, elements),
                       elements, outputOf(part)});
  to.senders.push_back({listed.index, listed.rankAt(position)});
}

void PartLister::cleared() const {
  if (elements != 0)
    layers.cleared.push_back({listed.buffers.output, bytes});
}

const std::byte *PartLister::inputOf(uint64_t part) const {
  if (read.count == 1)
    return listed.buffers.input + part * bytes;
  std::byte *dense = layers.takeDense(bytes);
  layers.packed.push_back(
      {dense, read.width, listed.buffers.input + part * read.width, read.pitch, read.width, read.count});
  return dense;
}

std::byte *PartLister::outputOf(uint64_t part) const {
  if (written.count == 1)
    return listed.buffers.output + part * bytes;
  std::byte *dense = layers.takeDense(bytes);
  layers.unpacked.push_back({listed.buffers.output + part * written.width, written.pitch, dense,
                             written.width, written.width, written.count});
  return dense;
}

} // namespace cgx
