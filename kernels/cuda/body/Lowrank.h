//===-- Lowrank.h - Products of a matrix and its factors -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of lowrank.h, every sum in the order of cpu/Lowrank.cpp. Products with a few vectors take as
// long as reading the matrix does, so a library of matrix products would not be faster, and would add in an
// order of its own.
#ifndef CGX_KERNELS_CUDA_BODY_LOWRANK_H
#define CGX_KERNELS_CUDA_BODY_LOWRANK_H

#include "Orthonormal.h"
#include "Residual.h"

namespace cgx::cuda {

struct LowrankItem {
  cgx_element_type type;
  uint32_t rank;
  uint64_t rows, columns;
  uint64_t layerId;
  const void *input;
  void *output;
  const float *matrix; ///< the input, or `sum`
  float *sum;          ///< f32 memory for the input and its residual, or null
  float *warmStart, *left, *ownRight;
  const float *right;
  float *parts;      ///< of left: one for each block of columns, row and vector
  uint32_t *spoiled; ///< factors are not finite
  KeptResidual residual;

  CGX_DEVICE_INLINE uint64_t elements() const { return rows * columns; }
  CGX_DEVICE_INLINE uint64_t columnBlocks() const {
    return (columns + lowrankBlockColumns - 1) / lowrankBlockColumns;
  }
  CGX_DEVICE_INLINE uint64_t vectorGroups() const { return (rank + lowrankTogether - 1) / lowrankTogether; }
};

struct LowrankTable {
  const LowrankItem *items;
  const StepState *state;
};

/// Calls step(j) for the vectors of a group, and tells the compiler how many there are at most.
template <typename Step> CGX_BODY void forEachOfGroup(uint32_t rank, uint64_t group, const Step &step) {
  unrolled<lowrankTogether>([&](uint32_t j) {
    if (group * lowrankTogether + j < rank)
      step(j);
  });
}

/// The input in f32, and what was lost of it before.
struct SumMatrix {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    const Source source = item.type == CGX_F16    ? Source::f16
                          : item.type == CGX_BF16 ? Source::bf16
                                                  : Source::f32;
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      const float lost = item.residual.values ? loadResidual(item.residual, i) : 0.0f;
      item.sum[i] = lost + loadElement(source, item.input, i);
    });
  }
};

/// Draws what is to begin with where nothing is kept. Equal on all ranks: no rank is part of the key.
struct DrawStart {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    const RandomKey key =
        makeRandomKey(table.state->seed, table.state->step, item.layerId, /*rank=*/0, 2 * table.state->run);
    const Vectors<Crew> start(crew, item.warmStart, item.rank, item.columns);
    if (start.drawZeros(key))
      start.orthonormalize();
  }
};

/// Multiplies four rows of a block of columns with warmStart, a warp for each: eight lanes a row.
struct MultiplyParts {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t rowsOfWarp = laneCount / lowrankLanes;
  LowrankTable table;

  CGX_DEVICE_INLINE static uint64_t count(const LowrankItem &item) {
    return (item.rows + rowsOfWarp - 1) / rowsOfWarp * item.columnBlocks();
  }

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t number) {
      for (uint64_t group = 0; group < item.vectorGroups(); ++group)
        multiply(lanes, item, number / item.columnBlocks() * rowsOfWarp, number % item.columnBlocks(), group);
    });
  }

private:
  template <typename Lanes>
  CGX_BODY static void multiply(const Lanes &lanes, const LowrankItem &item, uint64_t firstRow,
                                uint64_t block, uint64_t group) {
    PerLane<Lanes, float> sums[lowrankTogether];
    const uint64_t begin = block * lowrankBlockColumns, left = item.columns - begin;
    const uint64_t end = begin + (left < lowrankBlockColumns ? left : lowrankBlockColumns);
    const float *vectors = item.warmStart + group * lowrankTogether * item.columns;
    lanes.forEach([&](uint32_t lane) {
      unrolled<lowrankTogether>([&](uint32_t j) { sums[j][lane] = 0.0f; });
      const uint64_t row = firstRow + lane / lowrankLanes;
      if (row >= item.rows)
        return;
      for (uint64_t column = begin + lane % lowrankLanes; column < end; column += lowrankLanes) {
        const float x = item.matrix[row * item.columns + column];
        forEachOfGroup(item.rank, group,
                       [&](uint32_t j) { sums[j][lane] += x * vectors[j * item.columns + column]; });
      }
    });
    unrolled<lowrankTogether>([&](uint32_t j) { sums[j] = addNeighbours(lanes, sums[j]); });
    lanes.forEach([&](uint32_t lane) {
      const uint64_t row = firstRow + lane / lowrankLanes;
      if (lane % lowrankLanes != 0 || row >= item.rows)
        return;
      forEachOfGroup(item.rank, group, [&](uint32_t j) {
        item.parts[(block * item.rank + group * lowrankTogether + j) * item.rows + row] = sums[j][lane];
      });
    });
  }
};

/// Adds up the parts of each element of the left factor.
struct AddParts {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      float sum = 0.0f;
      for (uint64_t block = 0; block < item.columnBlocks(); ++block)
        sum += item.parts[block * item.rank * item.rows + i];
      item.left[i] = sum;
    });
  }
};

struct OrthonormalizeLeft {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    const Vectors<Crew> left(crew, item.left, item.rank, item.rows);
    if (left.areFinite())
      left.orthonormalize();
  }
};

/// A thread for each column and four vectors: rows are added in their order, four at a time.
struct MultiplyTransposed {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    crew.forEachIndex(slice.begin, slice.end,
                      [&](uint64_t i) { multiply(item, i / item.columns, i % item.columns); });
  }

private:
  CGX_BODY static void multiply(const LowrankItem &item, uint64_t group, uint64_t column) {
    const float *vectors = item.left + group * lowrankTogether * item.rows;
    float sums[lowrankTogether] = {};
    uint64_t row = 0;
    for (; row + lowrankTogether <= item.rows; row += lowrankTogether)
      addRows(item, group, column, row, lowrankTogether, vectors, sums);
    if (row < item.rows)
      addRows(item, group, column, row, uint32_t(item.rows - row), vectors, sums);
    forEachOfGroup(item.rank, group, [&](uint32_t j) {
      item.ownRight[(group * lowrankTogether + j) * item.columns + column] = sums[j];
    });
  }

  CGX_BODY static void addRows(const LowrankItem &item, uint64_t group, uint64_t column, uint64_t row,
                               uint32_t count, const float *vectors, float (&sums)[lowrankTogether]) {
    float x[lowrankTogether];
    unrolled<lowrankTogether>([&](uint32_t i) {
      if (i < count)
        x[i] = item.matrix[(row + i) * item.columns + column];
    });
    forEachOfGroup(item.rank, group, [&](uint32_t j) {
      float sum = x[0] * vectors[j * item.rows + row];
      unrolled<lowrankTogether - 1>([&](uint32_t i) {
        if (i + 1 < count)
          sum += x[i + 1] * vectors[j * item.rows + row + i + 1];
      });
      sums[j] += sum;
    });
  }
};

struct CheckFactors {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    const Vectors<Crew> left(crew, item.left, item.rank, item.rows);
    const Vectors<Crew> right(crew, const_cast<float *>(item.right), item.rank, item.columns);
    const bool areFinite = left.areFinite() && right.areFinite();
    crew.once([&] { *item.spoiled = areFinite ? 0 : 1; });
  }
};

/// An element of left * transpose(right).
CGX_BODY float reconstruct(const LowrankItem &item, const float *right, uint64_t index) {
  const uint64_t row = index / item.columns, column = index % item.columns;
  float value = 0.0f;
  for (uint64_t group = 0; group < item.vectorGroups(); ++group) {
    float sum = 0.0f;
    forEachOfGroup(item.rank, group, [&](uint32_t j) {
      const uint64_t vector = group * lowrankTogether + j;
      const float product = right[vector * item.columns + column] * item.left[vector * item.rows + row];
      sum = j == 0 ? product : sum + product;
    });
    value += sum;
  }
  return value;
}

/// Keeps what this rank's factors do not say of its matrix, a warp for each block of residuals.
struct StoreLowrankLosses {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    if (*item.spoiled != 0)
      return;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t block) {
      storeResidualBlock(lanes, item.residual, item.elements(), block, [&](uint64_t i) {
        const float loss = item.residual.decay * (item.matrix[i] - reconstruct(item, item.ownRight, i));
        const float largest = largestValue(CGX_F32);
        return loss > largest ? largest : loss < -largest ? -largest : loss;
      });
    });
  }
};

struct StoreResult {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    const bool isFinite = *item.spoiled == 0;
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      storeElement(item.type, item.output, i, isFinite ? reconstruct(item, item.right, i) : quietNan());
    });
  }
};

/// Orthonormal, so that it neither grows nor fades from step to step.
struct StoreStart {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const LowrankItem &item = table.items[slice.item];
    if (*item.spoiled != 0)
      return;
    crew.forEachIndex(0, item.rank * item.columns, [&](uint64_t i) { item.warmStart[i] = item.right[i]; });
    crew.wait();
    Vectors<Crew>(crew, item.warmStart, item.rank, item.columns).orthonormalize();
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_LOWRANK_H
