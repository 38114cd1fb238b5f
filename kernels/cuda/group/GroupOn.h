//===-- GroupOn.h - A group of layers on an engine -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group is a list of steps, each a body and the slices it runs on, and the tables in the engine's memory
// that the bodies read. An engine has memory and runs bodies: CudaEngine.h on a GPU, HostEngine.h in a plain
// loop.
#ifndef CGX_KERNELS_CUDA_GROUP_GROUPON_H
#define CGX_KERNELS_CUDA_GROUP_GROUPON_H

#include "Item.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace cgx::cuda {

template <typename Engine> class GroupOn final : public Group {
public:
  GroupOn() = default;
  GroupOn(const GroupOn &) = delete;
  GroupOn &operator=(const GroupOn &) = delete;
  ~GroupOn() override {
    for (void *memory : allocations)
      engine.release(memory);
  }

  /// Room for `count` objects, set to 0. Null if there is no memory, or none is asked for.
  template <typename T> T *allocate(uint64_t count) {
    if (count == 0 || !made.ok())
      return nullptr;
    void *memory = nullptr;
    made = engine.allocate(count * sizeof(T), memory);
    if (memory)
      allocations.push_back(memory);
    return static_cast<T *>(memory);
  }

  /// Copies rows to where they were allocated.
  template <typename T> void fill(T *table, const std::vector<T> &rows) {
    if (made.ok() && !rows.empty())
      made = engine.upload(table, rows.data(), rows.size() * sizeof(T));
  }

  template <typename T> T *upload(const std::vector<T> &rows) {
    T *table = allocate<T>(rows.size());
    fill(table, rows);
    return table;
  }

  /// Appends a step. Bodies with a table that names the state of the step get it when they run.
  template <typename Body> void addStep(Body body, const std::vector<Slice> &slices) {
    if (slices.empty())
      return;
    const Slice *table = upload(slices);
    const auto count = uint32_t(slices.size());
    steps.push_back([this, body, table, count](Stream stream, const StepState *state) mutable {
      if constexpr (requires { body.table.state; })
        body.table.state = state;
      return engine.launch(body, table, count, stream);
    });
  }

  /// Room for what is found about `count` payloads.
  uint32_t *allocateErrors(uint64_t count) {
    errorCount = count;
    return errors = allocate<uint32_t>(count);
  }

  Outcome run(Stream stream, const StepState *state) override {
    for (auto &step : steps)
      if (Outcome outcome = step(stream, state); !outcome.ok())
        return outcome;
    return {};
  }

  Outcome results(Stream stream, std::vector<DecodeError> &found) override {
    std::vector<uint32_t> numbers(errorCount);
    Outcome outcome = engine.download(numbers.data(), errors, errorCount * sizeof(uint32_t), stream);
    found.clear();
    for (uint32_t number : numbers)
      found.push_back(DecodeError(number));
    return outcome;
  }

  uint32_t launches() const override { return uint32_t(steps.size()); }

  /// What went wrong while the group was made.
  Outcome made;

private:
  Engine engine;
  std::vector<void *> allocations;
  std::vector<std::function<Outcome(Stream, const StepState *)>> steps;
  uint32_t *errors = nullptr;
  uint64_t errorCount = 0;
};

/// Indices of an item.
struct Range {
  uint64_t begin, end;
};

/// Cuts rangeOf(item) of each item that `isWanted` into slices of at most `most` indices.
template <typename Item, typename IsWanted, typename RangeOf>
std::vector<Slice> slicesOf(const std::vector<Item> &items, uint64_t most, const IsWanted &isWanted,
                            const RangeOf &rangeOf) {
  std::vector<Slice> slices;
  for (uint32_t item = 0; item < items.size(); ++item) {
    if (!isWanted(items[item]))
      continue;
    const Range range = rangeOf(items[item]);
    for (uint64_t begin = range.begin; begin < range.end; begin += most)
      slices.push_back({begin, std::min(range.end, begin + most), item});
  }
  return slices;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_GROUPON_H
