//===-- test/unit/kernels/LowrankTest.cpp - Factors of a matrix ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/lowrank.h"
#include "Inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cgx::test {
namespace {

using Floats = std::vector<float>;

class LowrankTest : public testing::Test {
protected:
  Floats normal(uint64_t count) {
    std::normal_distribution<float> distribution;
    Floats values(count);
    for (float &value : values)
      value = distribution(random);
    return values;
  }

  static double dot(const float *a, const float *b, uint64_t length) {
    double sum = 0;
    for (uint64_t i = 0; i < length; ++i)
      sum += double(a[i]) * double(b[i]);
    return sum;
  }

  static Floats reconstruct(const Floats &left, const Floats &right, uint32_t rank, uint64_t rows,
                            uint64_t columns) {
    Floats output(rows * columns);
    for (uint64_t row = 0; row < rows; ++row)
      reconstructRow(left.data(), right.data(), rank, rows, columns, row, output.data() + row * columns);
    return output;
  }

  /// Returns the error of `steps` warm-started steps, as a share of the norm.
  double errorOf(const Floats &elements, uint64_t rows, uint64_t columns, uint32_t rank, int steps) {
    const Matrix matrix{elements.data(), rows, columns};
    Floats right(rank * columns), left(rank * rows);
    for (int step = 0; step < steps; ++step) {
      drawZeroVectors(right.data(), rank, columns, RandomKey{uint64_t(step) + 1});
      orthonormalize(right.data(), rank, columns);
      multiply(matrix, right.data(), rank, left.data());
      orthonormalize(left.data(), rank, rows);
      multiplyTransposed(matrix, left.data(), rank, right.data());
    }
    const Floats output = reconstruct(left, right, rank, rows, columns);
    double lost = 0;
    for (size_t i = 0; i < elements.size(); ++i)
      lost += std::pow(double(elements[i]) - double(output[i]), 2);
    return std::sqrt(lost / dot(elements.data(), elements.data(), elements.size()));
  }

  std::mt19937_64 random{testSeed()};
};

constexpr std::pair<uint64_t, uint64_t> kShapes[] = {{1, 1},    {1, 7},    {7, 1},      {5, 9},    {64, 33},
                                                     {3, 2500}, {2500, 3}, {130, 1025}, {31, 2048}};

TEST_F(LowrankTest, ProductsAreThoseOfPlainLoops) {
  for (auto [rows, columns] : kShapes)
    for (uint32_t rank : {1u, 2u, 3u, 4u, 5u, 8u, 9u}) {
      const Floats elements = normal(rows * columns), right = normal(rank * columns),
                   left = normal(rank * rows);
      Floats gotLeft(rank * rows, 7), gotRight(rank * columns, 7);
      multiply({elements.data(), rows, columns}, right.data(), rank, gotLeft.data());
      multiplyTransposed({elements.data(), rows, columns}, left.data(), rank, gotRight.data());
      const Floats output = reconstruct(left, right, rank, rows, columns);
      for (uint32_t j = 0; j < rank; ++j) {
        for (uint64_t row = 0; row < rows; ++row)
          ASSERT_NEAR(gotLeft[j * rows + row], dot(&elements[row * columns], &right[j * columns], columns),
                      1e-5 * std::sqrt(double(columns)) * 4);
        for (uint64_t column = 0; column < columns; ++column) {
          double sum = 0;
          for (uint64_t row = 0; row < rows; ++row)
            sum += double(elements[row * columns + column]) * double(left[j * rows + row]);
          ASSERT_NEAR(gotRight[j * columns + column], sum, 1e-5 * std::sqrt(double(rows)) * 4);
        }
      }
      for (uint64_t i = 0; i < output.size(); ++i) {
        double sum = 0;
        for (uint32_t j = 0; j < rank; ++j)
          sum += double(left[j * rows + i / columns]) * double(right[j * columns + i % columns]);
        ASSERT_NEAR(output[i], sum, 1e-5 * rank);
      }
    }
}

TEST_F(LowrankTest, VectorsBecomeOrthonormalWhateverTheirScale) {
  for (float scale : {1.0f, 1e-30f, 1e-42f, 1e30f})
    for (uint64_t length : {1u, 3u, 8u, 1000u})
      for (uint32_t rank : {1u, 3u, 8u}) {
        Floats vectors = normal(rank * length);
        for (float &value : vectors)
          value *= scale;
        orthonormalize(vectors.data(), rank, length);
        for (uint32_t a = 0; a < rank; ++a)
          for (uint32_t b = 0; b <= a; ++b) {
            const double product = dot(&vectors[a * length], &vectors[b * length], length);
            // If there are more vectors than dimensions, the others depend on the first ones and become zero.
            const double expected = a == b && (a < length || product != 0) ? 1 : 0;
            ASSERT_NEAR(product, expected, 1e-5)
                << a << " and " << b << " of " << rank << ", " << length << " elements, scale " << scale;
          }
      }
}

TEST_F(LowrankTest, NearlyParallelVectorsBecomeOrthogonal) {
  Floats vectors = normal(3 * 500);
  for (uint64_t i = 0; i < 500; ++i) {
    vectors[500 + i] = vectors[i] + 1e-4f * vectors[500 + i];
    vectors[1000 + i] = vectors[i] - 1e-4f * vectors[1000 + i];
  }
  orthonormalize(vectors.data(), 3, 500);
  for (uint32_t a = 0; a < 3; ++a)
    for (uint32_t b = 0; b < a; ++b)
      EXPECT_NEAR(dot(&vectors[a * 500], &vectors[b * 500], 500), 0, 1e-6);
}

TEST_F(LowrankTest, DependentVectorsBecomeZeroAndAreDrawnAgain) {
  Floats vectors = normal(4 * 100);
  for (uint64_t i = 0; i < 100; ++i) {
    vectors[100 + i] = 3 * vectors[i];
    vectors[300 + i] = 0;
  }
  orthonormalize(vectors.data(), 4, 100);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(vectors[100 + i], 0.0f);
    EXPECT_EQ(vectors[300 + i], 0.0f);
  }
  Floats again = vectors;
  EXPECT_TRUE(drawZeroVectors(vectors.data(), 4, 100, RandomKey{5}));
  EXPECT_TRUE(drawZeroVectors(again.data(), 4, 100, RandomKey{5}));
  EXPECT_EQ(vectors, again);
  EXPECT_FALSE(drawZeroVectors(again.data(), 4, 100, RandomKey{6}));
  orthonormalize(vectors.data(), 4, 100);
  EXPECT_NEAR(dot(&vectors[100], &vectors[100], 100), 1, 1e-5);
  EXPECT_NEAR(dot(&vectors[100], &vectors[300], 100), 0, 1e-5);
}

TEST_F(LowrankTest, MatricesOfThatRankComeBack) {
  for (auto [rows, columns] : {std::pair<uint64_t, uint64_t>{40, 60}, {200, 17}, {16, 3000}})
    for (uint32_t rank : {1u, 2u, 4u, 7u}) {
      const Floats left = normal(rank * rows), right = normal(rank * columns);
      const Floats elements = reconstruct(left, right, rank, rows, columns);
      EXPECT_LT(errorOf(elements, rows, columns, rank, 1), 2e-4) << rows << "x" << columns << ", " << rank;
      EXPECT_LT(errorOf(elements, rows, columns, rank + 2, 2), 2e-4);
    }
}

TEST_F(LowrankTest, ErrorFallsWithRankAndWithSteps) {
  const Floats elements = normal(60 * 80);
  double last = 1;
  for (uint32_t rank : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const double once = errorOf(elements, 60, 80, rank, 1), often = errorOf(elements, 60, 80, rank, 12);
    EXPECT_LT(once, last) << rank;
    EXPECT_LT(often, once) << rank;
    last = once;
  }
}

TEST_F(LowrankTest, ZeroMatricesStayZero) {
  const Floats elements(30 * 20);
  Floats right(2 * 20), left(2 * 30);
  drawZeroVectors(right.data(), 2, 20, RandomKey{1});
  multiply({elements.data(), 30, 20}, right.data(), 2, left.data());
  orthonormalize(left.data(), 2, 30);
  multiplyTransposed({elements.data(), 30, 20}, left.data(), 2, right.data());
  EXPECT_EQ(reconstruct(left, right, 2, 30, 20), elements);
}

TEST_F(LowrankTest, WhatIsNotFiniteShowsInTheProduct) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()})
    for (uint64_t place = 0; place < 30 * 20; place += 37) {
      Floats elements = normal(30 * 20), right = normal(3 * 20), left(3 * 30);
      right[place % 20] = 0; // infinity times zero is no number
      elements[place] = bad;
      multiply({elements.data(), 30, 20}, right.data(), 3, left.data());
      for (uint32_t j = 0; j < 3; ++j)
        EXPECT_FALSE(std::isfinite(left[j * 30 + place / 20]));
      EXPECT_FALSE(areFinite(left.data(), left.size()));
    }
}

TEST_F(LowrankTest, TheMatrixIsCutWhereItsSidesAreShortest) {
  auto rowsOf = [](std::vector<uint64_t> shape) { return cgx_matrix_rows(shape.data(), shape.size()); };
  EXPECT_EQ(rowsOf({64, 128}), 64u);
  EXPECT_EQ(rowsOf({3, 3, 64, 128}), 576u); // a convolution of JAX
  EXPECT_EQ(rowsOf({128, 64, 3, 3}), 128u); // and one of PyTorch
  EXPECT_EQ(rowsOf({1, 128}), 1u);
  EXPECT_EQ(rowsOf({1, 16, 16}), 16u);
  EXPECT_EQ(rowsOf({2, 2, 2}), 2u); // 2x4 is as good as 4x2
  EXPECT_EQ(rowsOf({100}), 1u);
  EXPECT_EQ(rowsOf({}), 1u);
  EXPECT_EQ(rowsOf({0, 5}), 1u);
}

TEST_F(LowrankTest, TheLargestRankKeepsFactorsShorterThanTheTensor) {
  for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16})
    for (uint64_t rows : {1u, 2u, 3u, 10u, 64u})
      for (uint64_t columns : {1u, 2u, 5u, 10u, 300u}) {
        const uint64_t most = cgx_lowrank_most(rows, type, rows * columns);
        const uint64_t bytes = rows * columns * cgx_element_bytes(type);
        EXPECT_LT(4 * most * (rows + columns), bytes);
        EXPECT_GE(4 * (most + 1) * (rows + columns), bytes);
        EXPECT_LT(most, std::min(rows, columns));
      }
  EXPECT_EQ(cgx_lowrank_most(1, CGX_F32, 0), 0u);
}

TEST_F(LowrankTest, RefusesWhatIsNoLowrank) {
  EXPECT_EQ(checkCodec({.family = CGX_CODEC_LOWRANK}, CGX_F32), "expected rank in 1..4294967295, got 0");
  EXPECT_EQ(checkCodec({.family = CGX_CODEC_LOWRANK, .checksum = 1, .rank = 2}, CGX_F32),
            "expected no checksum with lowrank, which has no payloads");
  EXPECT_NE(checkCodec({.family = CGX_CODEC_LOWRANK, .rank = 2}, CGX_I32), "");
  EXPECT_EQ(checkCodec({.family = CGX_CODEC_LOWRANK, .rank = 2}, CGX_BF16), "");
}

} // namespace
} // namespace cgx::test
