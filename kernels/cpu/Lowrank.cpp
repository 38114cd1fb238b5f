//===-- Lowrank.cpp - Factors of a matrix ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/lowrank.h"

#include "CodecFamily.h"

#include <algorithm>
#include <cmath>

namespace cgx {
namespace {

// Work goes by blocks of columns, so that a block's part of a few vectors stays in the first-level cache.
// Several sums of lanes run side by side, so that additions need not wait for each other. Vectors or rows
// that are taken together load their common operand once.
constexpr uint64_t kBlockColumns = lowrankBlockColumns;
constexpr uint64_t kLanes = lowrankLanes;
constexpr uint32_t kTogether = lowrankTogether;

/// Adds the inner products of one row with `count` vectors to *sums[0], *sums[1], ...
template <uint32_t count>
void addProducts(const float *row, const float *const *vectors, uint64_t columns, float *const *sums) {
  float lanes[count][kLanes] = {};
  const uint64_t whole = columns / kLanes * kLanes;
  for (uint64_t column = 0; column < whole; column += kLanes)
    for (uint32_t j = 0; j < count; ++j)
      for (uint64_t lane = 0; lane < kLanes; ++lane)
        lanes[j][lane] += row[column + lane] * vectors[j][column + lane];
  for (uint32_t j = 0; j < count; ++j) {
    for (uint64_t column = whole; column < columns; ++column)
      lanes[j][column - whole] += row[column] * vectors[j][column];
    *sums[j] += ((lanes[j][0] + lanes[j][1]) + (lanes[j][2] + lanes[j][3])) +
                ((lanes[j][4] + lanes[j][5]) + (lanes[j][6] + lanes[j][7]));
  }
}

/// Adds multiples of vectors: output[i] += factors[0] * vectors[0][i] + factors[1] * vectors[1][i] + ...
template <uint32_t count>
void addMultiples(const float *const *vectors, const float *factors, uint64_t length, float *output) {
  for (uint64_t i = 0; i < length; ++i) {
    float sum = vectors[0][i] * factors[0];
    for (uint32_t j = 1; j < count; ++j)
      sum += vectors[j][i] * factors[j];
    output[i] += sum;
  }
}

void addMultiples(uint32_t count, const float *const *vectors, const float *factors, uint64_t length,
                  float *output) {
  switch (count) {
  case 1:
    return addMultiples<1>(vectors, factors, length, output);
  case 2:
    return addMultiples<2>(vectors, factors, length, output);
  case 3:
    return addMultiples<3>(vectors, factors, length, output);
  default:
    return addMultiples<kTogether>(vectors, factors, length, output);
  }
}

/// Returns the inner product of two blocks.
double blockProduct(const float *a, const float *b, uint64_t length) {
  double lanes[kLanes] = {};
  for (uint64_t i = 0; i < length; ++i)
    lanes[i % kLanes] += double(a[i]) * double(b[i]);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/// Returns an inner product in f64, in which no square of an f32 overflows or vanishes.
double innerProduct(const float *a, const float *b, uint64_t length) {
  double product = 0;
  for (uint64_t begin = 0; begin < length; begin += kBlockColumns)
    product += blockProduct(a + begin, b + begin, std::min(kBlockColumns, length - begin));
  return product;
}

/// Divides a vector by its length and returns the length. A vector of length 0 stays as it is.
double normalize(float *vector, uint64_t length) {
  const double norm = std::sqrt(innerProduct(vector, vector, length));
  if (norm != 0)
    for (uint64_t i = 0; i < length; ++i)
      vector[i] = float(double(vector[i]) / norm);
  return norm;
}

/// Subtracts from vector `index` its projections onto the vectors before it.
void orthogonalize(float *vectors, uint32_t index, uint64_t length) {
  float *vector = vectors + index * length;
  for (uint32_t j = 0; j < index; ++j) {
    const float *other = vectors + j * length;
    const double share = innerProduct(vector, other, length);
    for (uint64_t i = 0; i < length; ++i)
      vector[i] = float(double(vector[i]) - share * double(other[i]));
  }
}

} // namespace

void multiply(const Matrix &matrix, const float *right, uint32_t rank, float *left) {
  std::fill(left, left + rank * matrix.rows, 0.0f);
  for (uint64_t begin = 0; begin < matrix.columns; begin += kBlockColumns) {
    const uint64_t columns = std::min(kBlockColumns, matrix.columns - begin);
    for (uint64_t row = 0; row < matrix.rows; ++row)
      for (uint32_t first = 0; first < rank; first += kTogether) {
        const uint32_t count = std::min(kTogether, rank - first);
        const float *vectors[kTogether];
        float *sums[kTogether];
        for (uint32_t j = 0; j < count; ++j) {
          vectors[j] = right + (first + j) * matrix.columns + begin;
          sums[j] = left + (first + j) * matrix.rows + row;
        }
        const float *elements = matrix.elements + row * matrix.columns + begin;
        if (count == kTogether)
          addProducts<kTogether>(elements, vectors, columns, sums);
        else
          for (uint32_t j = 0; j < count; ++j)
            addProducts<1>(elements, vectors + j, columns, sums + j);
      }
  }
}

void multiplyTransposed(const Matrix &matrix, const float *left, uint32_t rank, float *right) {
  std::fill(right, right + rank * matrix.columns, 0.0f);
  for (uint64_t begin = 0; begin < matrix.columns; begin += kBlockColumns) {
    const uint64_t columns = std::min(kBlockColumns, matrix.columns - begin);
    for (uint64_t row = 0; row < matrix.rows; row += kTogether) {
      const auto count = uint32_t(std::min<uint64_t>(kTogether, matrix.rows - row));
      const float *rows[kTogether];
      for (uint32_t i = 0; i < count; ++i)
        rows[i] = matrix.elements + (row + i) * matrix.columns + begin;
      for (uint32_t j = 0; j < rank; ++j)
        addMultiples(count, rows, left + j * matrix.rows + row, columns, right + j * matrix.columns + begin);
    }
  }
}

void reconstructRow(const float *left, const float *right, uint32_t rank, uint64_t rows, uint64_t columns,
                    uint64_t row, float *output) {
  std::fill(output, output + columns, 0.0f);
  for (uint32_t first = 0; first < rank; first += kTogether) {
    const uint32_t count = std::min(kTogether, rank - first);
    const float *vectors[kTogether];
    float factors[kTogether];
    for (uint32_t j = 0; j < count; ++j) {
      vectors[j] = right + (first + j) * columns;
      factors[j] = left[(first + j) * rows + row];
    }
    addMultiples(count, vectors, factors, columns, output);
  }
}

void orthonormalize(float *vectors, uint32_t rank, uint64_t length) {
  for (uint32_t j = 0; j < rank; ++j) {
    float *vector = vectors + j * length;
    // It gets length 1 first, so that the rounding of f32 has a known size.
    normalize(vector, length);
    orthogonalize(vectors, j, length);
    if (normalize(vector, length) < dependentVector) {
      std::fill(vector, vector + length, 0.0f);
      continue;
    }
    // A short remainder has rounding errors in the direction of the others, and normalizing made them longer.
    orthogonalize(vectors, j, length);
    normalize(vector, length);
  }
}

bool drawZeroVectors(float *vectors, uint32_t rank, uint64_t length, RandomKey key) {
  bool drawn = false;
  for (uint32_t j = 0; j < rank; ++j) {
    float *vector = vectors + j * length;
    if (std::any_of(vector, vector + length, [](float value) { return value != 0.0f; }))
      continue;
    drawn = true;
    for (uint64_t i = 0; i < length; ++i)
      vector[i] = drawStart(key, j * length + i);
  }
  return drawn;
}

bool areFinite(const float *values, uint64_t count) {
  return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

} // namespace cgx
