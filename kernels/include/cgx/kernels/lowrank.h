//===-- cgx/kernels/lowrank.h - Factors of a matrix --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the arithmetic of lowrank (PowerSGD): a matrix M, row-major, is sent as left * transpose(right). A
// factor of rank r is r vectors, one after the other, of as many elements as M has rows (left), or columns
// (right).
//
// Products are computed in f32 in an order that the code fixes, without fused multiply-add, and inner
// products of vectors in f64: the same bits on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_LOWRANK_H
#define CGX_KERNELS_LOWRANK_H

#include "cgx/arithmetic/random.h"
#include "cgx/codec.h"

namespace cgx {

/// The order of sums. Columns, and elements of inner products, are added in blocks whose sums are added one
/// after the other, so that many can be computed at once; in a block, element i is in lane i % lowrankLanes.
/// Rows of transposed products and vectors of results are in groups of lowrankTogether.
constexpr uint64_t lowrankBlockColumns = 1024;
constexpr uint32_t lowrankLanes = 8, lowrankTogether = 4;

/// A vector is dependent if less of its length remains: rounding of f32 leaves that much.
constexpr double dependentVector = 0x1p-20;

struct Matrix {
  const float *elements;
  uint64_t rows, columns;
};

/// Computes left = M * right.
void multiply(const Matrix &matrix, const float *right, uint32_t rank, float *left);

/// Computes right = transpose(M) * left.
void multiplyTransposed(const Matrix &matrix, const float *left, uint32_t rank, float *right);

/// Computes row `row` of left * transpose(right); a factor of `rows` and one of `columns` elements a vector.
void reconstructRow(const float *left, const float *right, uint32_t rank, uint64_t rows, uint64_t columns,
                    uint64_t row, float *output);

/// Makes vectors of length 1 and orthogonal, by Gram-Schmidt, each twice: the span of the first k stays
/// that of the first k. A vector that depends on those before it, up to rounding, becomes zero.
/// All elements must be finite.
void orthonormalize(float *vectors, uint32_t rank, uint64_t length);

/// Returns element `index` of the random vector that replaces a zero vector.
CGX_DEVICE_INLINE float drawStart(RandomKey key, uint64_t index) {
  const uint32_t bits = randomWord(makeRandomStream(key, index), uint32_t(index));
  return float(int32_t(bits) >> 8) * 0x1p-23f;
}

/// Gives zero vectors random elements, always the same for one key. Returns whether there was one.
bool drawZeroVectors(float *vectors, uint32_t rank, uint64_t length, RandomKey key);

bool areFinite(const float *values, uint64_t count);

} // namespace cgx

#endif // CGX_KERNELS_LOWRANK_H
