//===-- cgx/run/Batches.h - Which samples a step takes ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Step k takes the samples [k B, (k + 1) B) of the data file, B being the global
// batch, and each rank its block of them. A pass over the data (epoch) is made of
// whole batches: samples at the end that fill none are left out. With shuffling
// every epoch has an order of its own, which follows from the seed alone: all
// ranks, machines and resumed runs agree on it.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_BATCHES_H
#define CGX_RUN_BATCHES_H

#include "cgx/run/Blocks.h"

#include <cstdint>
#include <vector>

namespace cgx::run {

/// The order of samples.
class Sampler {
public:
  /// At least one batch of samples, unless there are none. What fills no batch at the end of a pass is left
  /// out, or `pads` with the first of the pass.
  Sampler(uint64_t samples, uint64_t batch, bool shuffle, uint64_t seed, bool pads = false);

  /// The row of the data file that holds sample `index` of the run, where the run
  /// goes over the data again and again.
  uint64_t row(uint64_t index);

  /// Samples of a pass.
  uint64_t samplesOfPass() const { return epochSamples_; }

private:
  void startEpoch(uint64_t epoch);

  uint64_t samples_, epochSamples_, seed_;
  uint64_t epoch_ = UINT64_MAX; // of order_
  std::vector<uint64_t> order_; // empty when not shuffled
};

/// Fills the buffer of a batch argument, `batch`, with this rank's part of the
/// samples [first, first + B): `rank`'s block in every dimension. The rows of `data` follow each other.
void copyBatch(const Value &batch, const Mesh &mesh, uint32_t rank, std::span<const TensorView> data,
               Sampler &sampler, uint64_t first, std::byte *buffer);

/// Fills this rank's block of an argument of which `data` has one for each step.
void copyStepValue(const Value &argument, const Mesh &mesh, uint32_t rank, const TensorView &data,
                   uint64_t step, std::byte *buffer);

} // namespace cgx::run

#endif // CGX_RUN_BATCHES_H
