//===-- RangeSizes.h - The amount of work of one thread block ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the most indices of a range, by their kind: enough for a block to be worth its start, and few
// enough that one layer fills a GPU. Results do not depend on them.
#ifndef CGX_KERNELS_CUDA_GROUP_RANGESIZES_H
#define CGX_KERNELS_CUDA_GROUP_RANGESIZES_H

#include <cstdint>

namespace cgx::cuda::range {

// Each of these takes a thread.
constexpr uint64_t elements = 8192;
constexpr uint64_t searchedElements = 16384; ///< most of these need only a look
constexpr uint64_t codes = 4096;             ///< words or bytes of levels, bit planes, positions, values
constexpr uint64_t runs = 2048;              ///< runs of eight elements
constexpr uint64_t tiles = 128;              ///< a warp holds as many tiles at once as its lanes suffice for
constexpr uint64_t streamThreads = 128;      ///< each has 2048 symbols
constexpr uint64_t chunkThreads = 256;
constexpr uint64_t columns = 256;

// Each of these takes a warp.
constexpr uint64_t buckets = 64;
constexpr uint64_t largeBuckets = 8; ///< buckets of a few thousand elements
constexpr uint64_t chunks = 16;
constexpr uint64_t streamWarps = 16;
constexpr uint64_t residualBlocks = 32;
constexpr uint64_t rowParts = 32;
constexpr uint64_t words = 8192; ///< words of a checksum, of which a warp takes 32

constexpr uint64_t exponentRuns = 8;

} // namespace cgx::cuda::range

#endif // CGX_KERNELS_CUDA_GROUP_RANGESIZES_H
