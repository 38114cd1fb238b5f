//===-- cgx/kernels/lowrank.h - Factors of a matrix --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of lowrank (PowerSGD): a matrix M, row-major, is sent as left * transpose(right).
// A factor of rank r is r vectors, one behind the other: of as many elements as M has rows (left), or
// columns (right).
//
// Products are computed in f32 in an order that is written down in the code, without fused
// multiply-add, and inner products of vectors in f64: the same bits on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_LOWRANK_H
#define CGX_KERNELS_LOWRANK_H

#include "cgx/codec.h"
#include "cgx/kernels/random.h"

namespace cgx {

/// Null when the parameters, but for the rows, are valid for elements of this type, else what is wrong.
const char *checkLowrank(const cgx_codec &codec, cgx_element_type type);

struct Matrix {
  const float *elements;
  uint64_t rows, columns;
};

/// left = M * right
void multiply(const Matrix &matrix, const float *right, uint32_t rank, float *left);

/// right = transpose(M) * left
void multiplyTransposed(const Matrix &matrix, const float *left, uint32_t rank, float *right);

/// Row `row` of left * transpose(right); a factor of `rows` and one of `columns` elements a vector.
void reconstructRow(const float *left, const float *right, uint32_t rank, uint64_t rows, uint64_t columns,
                    uint64_t row, float *output);

/// Makes vectors of length 1 and orthogonal, by Gram-Schmidt, each twice: the span of the first k stays
/// that of the first k. A vector that depends on those before it, up to rounding, becomes zero.
/// All elements must be finite.
void orthonormalize(float *vectors, uint32_t rank, uint64_t length);

/// Gives zero vectors random elements, those of one key always the same. Returns whether there was one.
bool drawZeroVectors(float *vectors, uint32_t rank, uint64_t length, RandomKey key);

bool areFinite(const float *values, uint64_t count);

} // namespace cgx

#endif // CGX_KERNELS_LOWRANK_H
