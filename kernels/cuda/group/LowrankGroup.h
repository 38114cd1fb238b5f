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
#include "RangeSizes.h"
#include "cgx/kernels/cuda_lowrank.h"

namespace cgx::cuda {

template <typename Backend> class LowrankGroupOn final : public LowrankGroup {
public:
  /// Makes the steps of layers that have been checked.
  explicit LowrankGroupOn(std::span<const LowrankLayer> layers) {
    for (const LowrankLayer &layer : layers)
      descs.push_back(makeDescriptor(layer));
    const LowrankTable table = {left.upload(descs), nullptr};
    const auto all = [](const LowrankDescriptor &) { return true; };
    const auto hasSum = [](const LowrankDescriptor &desc) { return desc.sum != nullptr; };
    const auto hasFeedback = [](const LowrankDescriptor &desc) { return desc.residual.values != nullptr; };
    const auto ranges = [&](uint64_t most, const auto &isWanted, const auto &countOf) {
      return rangesOf(descs, most, isWanted,
                      [&](const LowrankDescriptor &desc) { return Range{0, countOf(desc)}; });
    };
    const auto one = [](const LowrankDescriptor &) { return uint64_t(1); };
    const auto elements = [](const LowrankDescriptor &desc) { return desc.elements(); };

    left.addStep(SumMatrix{table}, ranges(range::elements, hasSum, elements));
    left.addStep(DrawStart{table}, ranges(1, all, one));
    left.addStep(MultiplyParts{table}, ranges(range::rowParts, all, MultiplyParts::count));
    left.addStep(AddParts{table}, ranges(range::codes, all, [](const LowrankDescriptor &desc) {
                   return desc.rank * desc.rows;
                 }));

    right.addStep(OrthonormalizeLeft{table}, ranges(1, all, one));
    right.addStep(MultiplyTransposed{table}, ranges(range::columns, all, [](const LowrankDescriptor &desc) {
                    return desc.vectorGroups() * desc.columns;
                  }));

    last.addStep(CheckFactors{table}, ranges(1, all, one));
    last.addStep(StoreLowrankLosses{table},
                 ranges(range::residualBlocks, hasFeedback, [](const LowrankDescriptor &desc) {
                   return (desc.elements() + residualBlock - 1) / residualBlock;
                 }));
    last.addStep(StoreResult{table}, ranges(range::elements, all, elements));
    last.addStep(StoreStart{table}, ranges(1, all, one));
  }

  Outcome made() const {
    for (const GroupOn<Backend> *steps : {&left, &right, &last})
      if (!steps->made.ok())
        return steps->made;
    return {};
  }

  Outcome makeLeft(Stream stream, const StepState *state) override { return left.run(stream, state); }
  Outcome makeRight(Stream stream) override { return right.run(stream, nullptr); }
  Outcome finish(Stream stream) override { return last.run(stream, nullptr); }

private:
  /// Makes a descriptor. Its memory belongs to the first of the three groups of steps.
  LowrankDescriptor makeDescriptor(const LowrankLayer &layer) {
    LowrankDescriptor desc = {};
    desc.type = layer.type;
    desc.rank = layer.codec.rank;
    desc.rows = layer.codec.rows;
    desc.columns = layer.elements / desc.rows;
    desc.layerId = layer.layerId;
    desc.input = layer.input;
    desc.output = layer.output;
    desc.warmStart = layer.warmStart;
    desc.left = layer.left;
    desc.ownRight = layer.ownRight;
    desc.right = layer.right;
    desc.residual = residualOf(layer.feedback);
    if (layer.type != CGX_F32 || desc.residual.values)
      desc.sum = left.template allocate<float>(layer.elements);
    desc.matrix = desc.sum ? desc.sum : static_cast<const float *>(layer.input);
    desc.parts = left.template allocate<float>(desc.columnBlocks() * desc.rank * desc.rows);
    desc.spoiled = left.template allocate<uint32_t>(1);
    return desc;
  }

  GroupOn<Backend> left, right, last;
  std::vector<LowrankDescriptor> descs;
};

template <typename Backend>
std::unique_ptr<LowrankGroup> makeLowrankGroupOn(std::span<const LowrankLayer> layers, Outcome &outcome) {
  for (size_t i = 0; i < layers.size(); ++i)
    if (outcome = checkLayer(layers[i], i); !outcome.ok())
      return nullptr;
  auto group = std::make_unique<LowrankGroupOn<Backend>>(layers);
  outcome = group->made();
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_LOWRANKGROUP_H
