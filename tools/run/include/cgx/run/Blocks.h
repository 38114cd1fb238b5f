//===-- cgx/run/Blocks.h - Blocks of a tensor -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes which block of a global tensor a rank holds, and copies between the two.
// Mesh axes that split no dimension replicate: their ranks hold equal blocks.
//
//     mesh data=2, model=2; sharding [["model"], []] of a 4 x 3 tensor
//
//       rows 0-1: ranks 0 (0,0) and 2 (1,0)        rows 2-3: ranks 1 and 3
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_BLOCKS_H
#define CGX_RUN_BLOCKS_H

#include "cgx/run/Manifest.h"

#include <algorithm>
#include <array>

namespace cgx::run {

/// Returns, for each dimension, the number of the block that `rank` holds.
Shape blockCoordinates(const Value &value, const Mesh &mesh, uint32_t rank);

/// Returns the first element, in each dimension, of the block that `rank` holds.
Shape blockOrigin(const Value &value, const Mesh &mesh, uint32_t rank);

/// Returns the row-major number of the block that `rank` holds, and the number of blocks.
uint64_t blockIndex(const Value &value, const Mesh &mesh, uint32_t rank);
uint64_t blockCount(const Value &value);

/// Calls `visit(globalOffset, blockOffset, count)` for each run of elements that is contiguous in both
/// tensors; together the runs cover the block at `origin`. Dimensions before `first` are left out, as if the
/// tensors did not have them.
template <typename Visitor>
void forEachRun(const Shape &block, const Shape &global, const Shape &origin, size_t first, Visitor visit) {
  const size_t rank = block.size();
  if (std::find(block.begin() + first, block.end(), 0) != block.end())
    return;
  // A run includes all trailing dimensions that the block spans entirely.
  size_t inner = rank;
  uint64_t run = 1;
  while (inner > first && (inner == rank || block[inner] == global[inner]))
    run *= block[--inner];
  std::array<int64_t, kMaxDimensions> position = {};
  for (uint64_t blockOffset = 0;; blockOffset += run) {
    uint64_t globalOffset = 0;
    for (size_t dim = first; dim < rank; ++dim)
      globalOffset = globalOffset * global[dim] + origin[dim] + (dim < inner ? position[dim] : 0);
    visit(globalOffset, blockOffset, run);
    size_t dim = inner;
    while (dim > first && ++position[dim - 1] == block[dim - 1])
      position[--dim] = 0;
    if (dim == first)
      return;
  }
}

/// These copy the block of `rank` out of the whole tensor, or into it.
void extractBlock(const Value &value, const Mesh &mesh, uint32_t rank, const std::byte *global,
                  std::byte *block);
void insertBlock(const Value &value, const Mesh &mesh, uint32_t rank, const std::byte *block,
                 std::byte *global);

} // namespace cgx::run

#endif // CGX_RUN_BLOCKS_H
