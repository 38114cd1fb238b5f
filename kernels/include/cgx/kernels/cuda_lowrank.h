//===-- cuda_lowrank.h - Factors of matrices on a GPU --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the arithmetic of lowrank.h for many layers at once, on memory of one GPU, with the same bits.
// Lowrank has no payloads: a step multiplies, has the left factors reduced, multiplies again, has the right
// ones reduced, and computes the result from both. State between steps stays on the device.
#ifndef CGX_KERNELS_CUDA_LOWRANK_H
#define CGX_KERNELS_CUDA_LOWRANK_H

#include "cgx/kernels/cuda.h"

namespace cgx::cuda {

/// A matrix of codec.rows rows. Factors are f32: codec.rank vectors, one after the other, of as many elements
/// as the matrix has rows (left), or columns (right).
struct LowrankLayer {
  cgx_codec codec = {};
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0; ///< not 0, a multiple of the rows
  uint64_t layerId = 0;
  const void *input = nullptr;
  float *warmStart = nullptr;   ///< the right factor to begin with; vectors of zeros are drawn
  float *left = nullptr;        ///< this rank's, and once added up, that of all
  float *ownRight = nullptr;    ///< this rank's
  const float *right = nullptr; ///< that of all: what the ranks' own ones were added up to
  void *output = nullptr;       ///< may be the input
  Feedback feedback = {};
};

/// The steps of a group of layers. Each launches as many kernels as the largest rank requires, for any number
/// of layers, and neither allocates nor waits.
class LowrankGroup {
public:
  virtual ~LowrankGroup() = default;

  /// Computes left = M * warmStart, where M is the input plus its residual. Afterwards `left` is to be
  /// reduced over the ranks.
  virtual Outcome makeLeft(Stream stream, const StepState *state) = 0;
  /// Makes `left` orthonormal, and ownRight = transpose(M) * left. Afterwards `ownRight` is to be reduced
  /// over the ranks.
  virtual Outcome makeRight(Stream stream) = 0;
  /// Computes output = left * transpose(right), the residual, which is the part of M that `left` and
  /// `ownRight` do not represent, and the warmStart of the next step. Where factors are not finite, the
  /// output is NaN and nothing is kept.
  virtual Outcome finish(Stream stream) = 0;
};

/// Makes a group. Returns null with an error for codecs that checkCodec() rejects, for null pointers, and
/// without a GPU.
std::unique_ptr<LowrankGroup> makeLowrankGroup(std::span<const LowrankLayer> layers, Outcome &outcome);

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_LOWRANK_H
