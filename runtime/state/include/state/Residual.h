//===-- state/Residual.h - Residuals of error feedback ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory of error feedback (Algorithm 2.1 of the thesis behind CGX and L-GreCo) holds what encoding lost
// so far, which is added to what the rank sends next.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_RESIDUAL_H
#define CGX_RUNTIME_STATE_RESIDUAL_H

#include "cgx/arithmetic/residual.h"
#include "state/StateMemory.h"
#include "state/StateTensor.h"

#include <span>
#include <vector>

namespace cgx {

/// The residual of the elements [begin, begin + elements) of an operand; zero at first.
class Residual {
public:
  Residual(ResidualStorage storage, uint64_t begin, uint64_t elements);
  /// Uses memory of bytesOf() bytes.
  Residual(ResidualStorage storage, uint64_t begin, uint64_t elements, StateMemory memory);

  static uint64_t bytesOf(ResidualStorage storage, uint64_t elements);

  /// Loads the residual of the elements that start with element `first` of the operand: zero where there is
  /// none. (A plan whose codec has longer buckets moves the ends of chunks.)
  void load(uint64_t first, std::span<float> values) const;

  /// Replaces the residual where there is one. The values must be finite. Precision that the storage does not
  /// have is lost.
  void store(uint64_t first, std::span<const float> values);

  /// The residual covers elements [firstElement(), endElement()) of the operand.
  uint64_t firstElement() const { return begin; }
  uint64_t endElement() const { return begin + elements; }
  ResidualStorage kind() const { return storage; }
  /// Returns the elements in their stored form; storedScales() are the scales of Int8.
  std::span<std::byte> stored();
  std::span<float> storedScales() { return scales; }

  /// Adds the memory, under `name`, to the tensors to be saved and restored.
  void describe(const std::string &name, std::vector<StateTensor> &tensors);

private:
  /// The number of elements of a range that come before the covered ones, and that are covered.
  struct Overlap {
    uint64_t skipped, kept;
  };
  Overlap overlapOf(uint64_t first, uint64_t count) const;
  void loadKept(uint64_t offset, std::span<float> values) const;
  void storeKept(uint64_t offset, std::span<const float> values);
  void loadBlock(uint64_t block, std::span<float> values) const;
  void storeBlock(uint64_t block, std::span<const float> values);
  std::span<int8_t> blockOf(uint64_t block);

  ResidualStorage storage;
  uint64_t begin;
  uint64_t elements;
  StateMemory memory;
  std::vector<float> scales; ///< scales of Int8

  template <typename Element> std::span<Element> kept() {
    return {reinterpret_cast<Element *>(memory.data()), elements};
  }
  template <typename Element> std::span<const Element> kept() const {
    return {reinterpret_cast<const Element *>(memory.data()), elements};
  }
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_RESIDUAL_H
