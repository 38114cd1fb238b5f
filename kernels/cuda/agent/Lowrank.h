//===-- Lowrank.h - Products of a matrix and its factors -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the functions of lowrank.h, with every sum in the order of cpu/Lowrank.cpp. A product with a few
// vectors takes as long as reading the matrix, so a library of matrix products would not be faster, and it
// would add in an order of its own.
#ifndef CGX_KERNELS_CUDA_AGENT_LOWRANK_H
#define CGX_KERNELS_CUDA_AGENT_LOWRANK_H

#include "Orthonormal.h"
#include "Residual.h"

namespace cgx::cuda {

struct LowrankDescriptor {
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
  float *parts;      ///< partial sums of left, one for each block of columns, row and vector
  uint32_t *spoiled; ///< 1 if factors are not finite
  KeptResidual residual;

  CGX_DEVICE_INLINE uint64_t elements() const { return rows * columns; }
  CGX_DEVICE_INLINE uint64_t columnBlocks() const {
    return (columns + lowrankBlockColumns - 1) / lowrankBlockColumns;
  }
  CGX_DEVICE_INLINE uint64_t vectorGroups() const { return (rank + lowrankTogether - 1) / lowrankTogether; }
};

struct LowrankTable {
  const LowrankDescriptor *descs;
  const StepState *state;
};

/// Calls step(j) for the vectors of a group. The compiler knows their largest number.
template <typename Step> CGX_AGENT void forEachOfGroup(uint32_t rank, uint64_t group, const Step &step) {
  unrolled<lowrankTogether>([&](uint32_t j) {
    if (group * lowrankTogether + j < rank)
      step(j);
  });
}

/// Adds the input and its residual, in f32.
struct SumMatrix {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    const Source source = desc.type == CGX_F16    ? Source::f16
                          : desc.type == CGX_BF16 ? Source::bf16
                                                  : Source::f32;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      const float lost = desc.residual.values ? loadResidual(desc.residual, i) : 0.0f;
      desc.sum[i] = lost + loadElement(source, desc.input, i);
    });
  }
};

/// Draws a start for layers that have none. It is equal on all ranks, because the key has no rank.
struct DrawStart {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    const RandomKey key =
        makeRandomKey(table.state->seed, table.state->step, desc.layerId, /*rank=*/0, 2 * table.state->run);
    const Vectors<ThreadBlock> start(threads, desc.warmStart, desc.rank, desc.columns);
    if (start.drawZeros(key))
      start.orthonormalize();
  }
};

/// Multiplies four rows of a block of columns with warmStart, a warp for each four, with eight lanes a row.
struct MultiplyParts {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t rowsOfWarp = laneCount / lowrankLanes;
  LowrankTable table;

  CGX_DEVICE_INLINE static uint64_t count(const LowrankDescriptor &desc) {
    return (desc.rows + rowsOfWarp - 1) / rowsOfWarp * desc.columnBlocks();
  }

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t number) {
      for (uint64_t group = 0; group < desc.vectorGroups(); ++group)
        multiply(lanes, desc, number / desc.columnBlocks() * rowsOfWarp, number % desc.columnBlocks(), group);
    });
  }

private:
  template <typename Warp>
  CGX_AGENT static void multiply(const Warp &lanes, const LowrankDescriptor &desc, uint64_t firstRow,
                                 uint64_t block, uint64_t group) {
    PerLane<Warp, float> sums[lowrankTogether];
    const uint64_t begin = block * lowrankBlockColumns, left = desc.columns - begin;
    const uint64_t end = begin + (left < lowrankBlockColumns ? left : lowrankBlockColumns);
    const float *vectors = desc.warmStart + group * lowrankTogether * desc.columns;
    lanes.forEach([&](uint32_t lane) {
      unrolled<lowrankTogether>([&](uint32_t j) { sums[j][lane] = 0.0f; });
      const uint64_t row = firstRow + lane / lowrankLanes;
      if (row >= desc.rows)
        return;
      for (uint64_t column = begin + lane % lowrankLanes; column < end; column += lowrankLanes) {
        const float x = desc.matrix[row * desc.columns + column];
        forEachOfGroup(desc.rank, group,
                       [&](uint32_t j) { sums[j][lane] += x * vectors[j * desc.columns + column]; });
      }
    });
    unrolled<lowrankTogether>([&](uint32_t j) { sums[j] = addNeighbours(lanes, sums[j]); });
    lanes.forEach([&](uint32_t lane) {
      const uint64_t row = firstRow + lane / lowrankLanes;
      if (lane % lowrankLanes != 0 || row >= desc.rows)
        return;
      forEachOfGroup(desc.rank, group, [&](uint32_t j) {
        desc.parts[(block * desc.rank + group * lowrankTogether + j) * desc.rows + row] = sums[j][lane];
      });
    });
  }
};

/// Adds up the partial sums of each element of the left factor.
struct AddParts {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      float sum = 0.0f;
      for (uint64_t block = 0; block < desc.columnBlocks(); ++block)
        sum += desc.parts[block * desc.rank * desc.rows + i];
      desc.left[i] = sum;
    });
  }
};

struct OrthonormalizeLeft {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    const Vectors<ThreadBlock> left(threads, desc.left, desc.rank, desc.rows);
    if (left.areFinite())
      left.orthonormalize();
  }
};

/// Multiplies by the transposed matrix, a thread for each column and four vectors. Rows are added in their
/// order, four at a time.
struct MultiplyTransposed {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t i) { multiply(desc, i / desc.columns, i % desc.columns); });
  }

private:
  CGX_AGENT static void multiply(const LowrankDescriptor &desc, uint64_t group, uint64_t column) {
    const float *vectors = desc.left + group * lowrankTogether * desc.rows;
    float sums[lowrankTogether] = {};
    uint64_t row = 0;
    for (; row + lowrankTogether <= desc.rows; row += lowrankTogether)
      addRows(desc, group, column, row, lowrankTogether, vectors, sums);
    if (row < desc.rows)
      addRows(desc, group, column, row, uint32_t(desc.rows - row), vectors, sums);
    forEachOfGroup(desc.rank, group, [&](uint32_t j) {
      desc.ownRight[(group * lowrankTogether + j) * desc.columns + column] = sums[j];
    });
  }

  CGX_AGENT static void addRows(const LowrankDescriptor &desc, uint64_t group, uint64_t column, uint64_t row,
                                uint32_t count, const float *vectors, float (&sums)[lowrankTogether]) {
    float x[lowrankTogether];
    unrolled<lowrankTogether>([&](uint32_t i) {
      if (i < count)
        x[i] = desc.matrix[(row + i) * desc.columns + column];
    });
    forEachOfGroup(desc.rank, group, [&](uint32_t j) {
      float sum = x[0] * vectors[j * desc.rows + row];
      unrolled<lowrankTogether - 1>([&](uint32_t i) {
        if (i + 1 < count)
          sum += x[i + 1] * vectors[j * desc.rows + row + i + 1];
      });
      sums[j] += sum;
    });
  }
};

struct CheckFactors {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    const Vectors<ThreadBlock> left(threads, desc.left, desc.rank, desc.rows);
    const Vectors<ThreadBlock> right(threads, const_cast<float *>(desc.right), desc.rank, desc.columns);
    const bool areFinite = left.areFinite() && right.areFinite();
    threads.once([&] { *desc.spoiled = areFinite ? 0 : 1; });
  }
};

/// Returns an element of left * transpose(right).
CGX_AGENT float reconstruct(const LowrankDescriptor &desc, const float *right, uint64_t index) {
  const uint64_t row = index / desc.columns, column = index % desc.columns;
  float value = 0.0f;
  for (uint64_t group = 0; group < desc.vectorGroups(); ++group) {
    float sum = 0.0f;
    forEachOfGroup(desc.rank, group, [&](uint32_t j) {
      const uint64_t vector = group * lowrankTogether + j;
      const float product = right[vector * desc.columns + column] * desc.left[vector * desc.rows + row];
      sum = j == 0 ? product : sum + product;
    });
    value += sum;
  }
  return value;
}

/// Stores the difference of this rank's matrix and its own factors as residual, a warp for each block of
/// residuals.
struct StoreLowrankLosses {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    if (*desc.spoiled != 0)
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t block) {
      storeResidualBlock(lanes, desc.residual, desc.elements(), block, [&](uint64_t i) {
        const float loss = desc.residual.decay * (desc.matrix[i] - reconstruct(desc, desc.ownRight, i));
        const float largest = largestValue(CGX_F32);
        return loss > largest ? largest : loss < -largest ? -largest : loss;
      });
    });
  }
};

struct StoreResult {
  static constexpr uint32_t sharedBytes = 0;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    const bool isFinite = *desc.spoiled == 0;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      storeElement(desc.type, desc.output, i, isFinite ? reconstruct(desc, desc.right, i) : quietNan());
    });
  }
};

/// Stores the right factor as the next start. It is made orthonormal, so that it neither grows nor fades from
/// step to step.
struct StoreStart {
  static constexpr uint32_t sharedBytes = vectorsSharedBytes;
  LowrankTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const LowrankDescriptor &desc = table.descs[range.desc];
    if (*desc.spoiled != 0)
      return;
    threads.forEachIndex(0, desc.rank * desc.columns, [&](uint64_t i) { desc.warmStart[i] = desc.right[i]; });
    threads.wait();
    Vectors<ThreadBlock>(threads, desc.warmStart, desc.rank, desc.columns).orthonormalize();
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_LOWRANK_H
