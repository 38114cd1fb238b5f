//===-- GroupOn.h - A group of layers on a backend -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group is a list of steps, each an agent and the ranges it runs on, and the tables that the agents read,
// in the backend's memory. A backend allocates memory and runs agents: CudaBackend.h on a GPU, HostBackend.h
// in a plain loop.
#ifndef CGX_KERNELS_CUDA_GROUP_GROUPON_H
#define CGX_KERNELS_CUDA_GROUP_GROUPON_H

#include "Descriptor.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace cgx::cuda {

template <typename Backend> class GroupOn final : public Group {
public:
  GroupOn() = default;
  GroupOn(const GroupOn &) = delete;
  GroupOn &operator=(const GroupOn &) = delete;
  ~GroupOn() override {
    for (void *memory : allocations)
      backend.release(memory);
  }

  /// Allocates memory for `count` objects, set to 0. Returns null if there is no memory, or `count` is 0.
  template <typename T> T *allocate(uint64_t count) {
    if (count == 0 || !made.ok())
      return nullptr;
    void *memory = nullptr;
    made = backend.allocate(count * sizeof(T), memory);
    if (memory)
      allocations.push_back(memory);
    return static_cast<T *>(memory);
  }

  /// Copies rows into an allocated table.
  template <typename T> void fill(T *table, const std::vector<T> &rows) {
    if (made.ok() && !rows.empty())
      made = backend.upload(table, rows.data(), rows.size() * sizeof(T));
  }

  template <typename T> T *upload(const std::vector<T> &rows) {
    T *table = allocate<T>(rows.size());
    fill(table, rows);
    return table;
  }

  /// Appends a step. If the agent's table has a `state`, it is set to the state of the step on each run.
  template <typename Agent> void addStep(Agent agent, const std::vector<TileRange> &ranges) {
    if (ranges.empty())
      return;
    const TileRange *table = upload(ranges);
    const auto count = uint32_t(ranges.size());
    steps.push_back([this, agent, table, count](Stream stream, const StepState *state) mutable {
      if constexpr (requires { agent.table.state; })
        agent.table.state = state;
      return backend.launch(agent, table, count, stream);
    });
  }

  /// Allocates memory for the errors of `count` payloads.
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
    Outcome outcome = backend.download(numbers.data(), errors, errorCount * sizeof(uint32_t), stream);
    found.clear();
    for (uint32_t number : numbers)
      found.push_back(DecodeError(number));
    return outcome;
  }

  uint32_t launches() const override { return uint32_t(steps.size()); }

  /// The error of making the group, if there was one.
  Outcome made;

private:
  Backend backend;
  std::vector<void *> allocations;
  std::vector<std::function<Outcome(Stream, const StepState *)>> steps;
  uint32_t *errors = nullptr;
  uint64_t errorCount = 0;
};

/// A range of indices of a descriptor.
struct Range {
  uint64_t begin, end;
};

/// Cuts rangeOf(descriptor), for each descriptor for which `isWanted` holds, into ranges of at most `most`
/// indices.
template <typename Descriptor, typename IsWanted, typename RangeOf>
std::vector<TileRange> rangesOf(const std::vector<Descriptor> &descs, uint64_t most, const IsWanted &isWanted,
                                const RangeOf &rangeOf) {
  std::vector<TileRange> ranges;
  for (uint32_t desc = 0; desc < descs.size(); ++desc) {
    if (!isWanted(descs[desc]))
      continue;
    const Range range = rangeOf(descs[desc]);
    for (uint64_t begin = range.begin; begin < range.end; begin += most)
      ranges.push_back({begin, std::min(range.end, begin + most), desc});
  }
  return ranges;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_GROUPON_H
