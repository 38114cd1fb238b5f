//===-- cgx/run/Batches.h - Order of samples --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Step k takes the samples [k B, (k + 1) B) of the data file, where B is the global batch, and
// each rank takes its block of them. A pass over the data (epoch) consists of whole batches;
// samples at the end that fill none are left out. With shuffling, every epoch has an order of its
// own, which follows from the seed alone, so that all ranks, machines and resumed runs agree on
// it.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_BATCHES_H
#define CGX_RUN_BATCHES_H

#include "cgx/run/Blocks.h"

#include <cstdint>
#include <vector>

namespace cgx::run {

/// The order in which a run takes samples.
class Sampler {
public:
  /// Takes at least one batch of samples, unless there are none. Samples at the end of a pass that do not
  /// fill a batch are left out, or filled up with the first samples of the pass where `pads` is set.
  Sampler(uint64_t samples, uint64_t batch, bool shuffle, uint64_t seed, bool pads = false);

  /// Returns the row of the data file that holds sample `index` of the run, which goes over the data again
  /// and again.
  uint64_t row(uint64_t index);

  /// Returns the number of samples in one pass.
  uint64_t samplesOfPass() const { return epochSamples_; }

private:
  void startEpoch(uint64_t epoch);

  uint64_t samples_, epochSamples_, seed_;
  uint64_t epoch_ = UINT64_MAX; // the pass that order_ is for
  std::vector<uint64_t> order_; // the shuffled rows of a pass; empty when samples are not shuffled
};

/// Fills the buffer of a batch argument with this rank's part of the samples [first, first + B): its block in
/// every dimension. The rows of the tensors in `data` follow each other.
void copyBatch(const Value &batch, const Mesh &mesh, uint32_t rank, std::span<const TensorView> data,
               Sampler &sampler, uint64_t first, std::byte *buffer);

/// Fills this rank's block of an argument for which `data` has one value per step.
void copyStepValue(const Value &argument, const Mesh &mesh, uint32_t rank, const TensorView &data,
                   uint64_t step, std::byte *buffer);

} // namespace cgx::run

#endif // CGX_RUN_BATCHES_H
