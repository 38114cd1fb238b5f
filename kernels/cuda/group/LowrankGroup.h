//===-- LowrankGroup.h - The steps of lowrank ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_LOWRANKGROUP_H
#define CGX_KERNELS_CUDA_GROUP_LOWRANKGROUP_H

#include "GroupOn.h"
#include "Layers.h"
#include "Lowrank.h"
#include "SliceSizes.h"
#include "cgx/kernels/cuda_lowrank.h"

namespace cgx::cuda {

template <typename Engine> class LowrankGroupOn final : public LowrankGroup {
public:
  /// Layers that were checked.
  explicit LowrankGroupOn(std::span<const LowrankLayer> layers) {
    for (const LowrankLayer &layer : layers)
      items.push_back(makeItem(layer));
    const LowrankTable table = {left.upload(items), nullptr};
    const auto all = [](const LowrankItem &) { return true; };
    const auto hasSum = [](const LowrankItem &item) { return item.sum != nullptr; };
    const auto hasFeedback = [](const LowrankItem &item) { return item.residual.values != nullptr; };
    const auto slices = [&](uint64_t most, const auto &isWanted, const auto &countOf) {
      return slicesOf(items, most, isWanted,
                      [&](const LowrankItem &item) { return Range{0, countOf(item)}; });
    };
    const auto one = [](const LowrankItem &) { return uint64_t(1); };
    const auto elements = [](const LowrankItem &item) { return item.elements(); };

    left.addStep(SumMatrix{table}, slices(slice::elements, hasSum, elements));
    left.addStep(DrawStart{table}, slices(1, all, one));
    left.addStep(MultiplyParts{table}, slices(slice::rowParts, all, MultiplyParts::count));
    left.addStep(AddParts{table},
                 slices(slice::codes, all, [](const LowrankItem &item) { return item.rank * item.rows; }));

    right.addStep(OrthonormalizeLeft{table}, slices(1, all, one));
    right.addStep(MultiplyTransposed{table}, slices(slice::columns, all, [](const LowrankItem &item) {
                    return item.vectorGroups() * item.columns;
                  }));

    last.addStep(CheckFactors{table}, slices(1, all, one));
    last.addStep(StoreLowrankLosses{table},
                 slices(slice::residualBlocks, hasFeedback, [](const LowrankItem &item) {
                   return (item.elements() + residualBlock - 1) / residualBlock;
                 }));
    last.addStep(StoreResult{table}, slices(slice::elements, all, elements));
    last.addStep(StoreStart{table}, slices(1, all, one));
  }

  Outcome made() const {
    for (const GroupOn<Engine> *steps : {&left, &right, &last})
      if (!steps->made.ok())
        return steps->made;
    return {};
  }

  Outcome makeLeft(Stream stream, const StepState *state) override { return left.run(stream, state); }
  Outcome makeRight(Stream stream) override { return right.run(stream, nullptr); }
  Outcome finish(Stream stream) override { return last.run(stream, nullptr); }

private:
  /// Memory of an item is that of the first of the three groups of steps.
  LowrankItem makeItem(const LowrankLayer &layer) {
    LowrankItem item = {};
    item.type = layer.type;
    item.rank = layer.codec.rank;
    item.rows = layer.codec.rows;
    item.columns = layer.elements / item.rows;
    item.layerId = layer.layerId;
    item.input = layer.input;
    item.output = layer.output;
    item.warmStart = layer.warmStart;
    item.left = layer.left;
    item.ownRight = layer.ownRight;
    item.right = layer.right;
    item.residual = residualOf(layer.feedback);
    if (layer.type != CGX_F32 || item.residual.values)
      item.sum = left.template allocate<float>(layer.elements);
    item.matrix = item.sum ? item.sum : static_cast<const float *>(layer.input);
    item.parts = left.template allocate<float>(item.columnBlocks() * item.rank * item.rows);
    item.spoiled = left.template allocate<uint32_t>(1);
    return item;
  }

  GroupOn<Engine> left, right, last;
  std::vector<LowrankItem> items;
};

template <typename Engine>
std::unique_ptr<LowrankGroup> makeLowrankGroupOn(std::span<const LowrankLayer> layers, Outcome &outcome) {
  for (size_t i = 0; i < layers.size(); ++i)
    if (outcome = checkLayer(layers[i], i); !outcome.ok())
      return nullptr;
  auto group = std::make_unique<LowrankGroupOn<Engine>>(layers);
  outcome = group->made();
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_LOWRANKGROUP_H
