//===-- Batches.cpp - Order of samples --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Batches.h"

#include <numeric>
#include <utility>

using namespace cgx::run;

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014), written out because the order of
/// samples must not depend on a standard library.
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Returns a number below `limit`. It is the high word of a product, whose bias is less than limit / 2^64.
  uint64_t below(uint64_t limit) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(next()) * limit >> 64);
  }

private:
  uint64_t state_;
};

/// Returns the tensor that has the row, and the row's bytes.
std::pair<const TensorView *, const std::byte *> findRow(std::span<const TensorView> data, uint64_t row) {
  const TensorView *part = data.data();
  for (; row >= static_cast<uint64_t>(part->shape[0]); ++part)
    row -= static_cast<uint64_t>(part->shape[0]);
  return {part, part->bytes.data() + row * (part->bytes.size() / static_cast<uint64_t>(part->shape[0]))};
}

} // namespace

Sampler::Sampler(uint64_t samples, uint64_t batch, bool shuffle, uint64_t seed, bool pads)
    : samples_(samples), epochSamples_(batch == 0 ? samples : samples - samples % batch), seed_(seed) {
  if (pads && epochSamples_ != samples)
    epochSamples_ += batch;
  if (shuffle)
    order_.resize(samples);
}

void Sampler::startEpoch(uint64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), uint64_t{0});
  SplitMix random(SplitMix(seed_).next() ^ epoch);
  for (uint64_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1], order_[random.below(i)]);
}

uint64_t Sampler::row(uint64_t index) {
  if (order_.empty())
    return index % epochSamples_ % samples_;
  if (index / epochSamples_ != epoch_)
    startEpoch(index / epochSamples_);
  return order_[index % epochSamples_ % samples_];
}

void cgx::run::copyBatch(const Value &batch, const Mesh &mesh, uint32_t rank,
                         std::span<const TensorView> data, Sampler &sampler, uint64_t first,
                         std::byte *buffer) {
  Shape origin = blockOrigin(batch, mesh, rank);
  uint64_t rows = static_cast<uint64_t>(batch.shape[0]);
  if (rows == 0 || *elementCount(batch.shape) == 0)
    return;
  uint64_t blockRowElements = *elementCount(batch.shape) / rows;
  uint64_t width = elementBytes(batch.type);
  for (uint64_t i = 0; i < rows; ++i) {
    const auto [part, source] = findRow(data, sampler.row(first + static_cast<uint64_t>(origin[0]) + i));
    const ElementType type = part->type;
    const uint64_t sourceWidth = elementBytes(type);
    std::byte *destination = buffer + i * blockRowElements * width;
    forEachRun(batch.shape, batch.globalShape, origin, /*first=*/1,
               [&](uint64_t globalOffset, uint64_t blockOffset, uint64_t count) {
                 convertElements(type, source + globalOffset * sourceWidth, batch.type,
                                 destination + blockOffset * width, count);
               });
  }
}

void cgx::run::copyStepValue(const Value &argument, const Mesh &mesh, uint32_t rank, const TensorView &data,
                             uint64_t step, std::byte *buffer) {
  const uint64_t sourceWidth = elementBytes(data.type), width = elementBytes(argument.type);
  const std::byte *source = data.bytes.data() + step * *elementCount(argument.globalShape) * sourceWidth;
  forEachRun(argument.shape, argument.globalShape, blockOrigin(argument, mesh, rank), /*first=*/0,
             [&](uint64_t globalOffset, uint64_t blockOffset, uint64_t count) {
               convertElements(data.type, source + globalOffset * sourceWidth, argument.type,
                               buffer + blockOffset * width, count);
             });
}
