//===-- MatmulTest.cpp - Matrix products against their definition -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"

#include "cgx/native.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace cgx::test {
namespace {

struct Product {
  int64_t m, n, k, batch;
};

class MatmulTest : public testing::TestWithParam<Product> {};

TEST_P(MatmulTest, EqualsTheDefinitionForEveryTransposition) {
  auto [m, n, k, batch] = GetParam();
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> a(m * k * batch), b(k * n * batch);
  for (std::vector<float> *matrix : {&a, &b})
    for (float &value : *matrix)
      value = normal(random);
  for (bool transA : {false, true})
    for (bool transB : {false, true}) {
      std::vector<float> c(m * n * batch + 1, 42.0f);
      cgx_native_matmul_f32(address(a.data()), address(b.data()), address(c.data()), transA, transB, m, n, k,
                            batch, m * k, k * n, m * n);
      for (int64_t p = 0; p < batch; ++p)
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0, size = 0;
            for (int64_t l = 0; l < k; ++l) {
              double x = a[p * m * k + (transA ? l * m + i : i * k + l)];
              double y = b[p * k * n + (transB ? j * k + l : l * n + j)];
              sum += x * y;
              size += std::abs(x * y);
            }
            ASSERT_NEAR(c[(p * m + i) * n + j], sum, 1e-6 * size) << i << " " << j;
          }
      EXPECT_EQ(c.back(), 42.0f) << "nothing behind the result is touched";
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulTest,
                         testing::Values(Product{1, 1, 1, 1}, Product{3, 5, 7, 1}, Product{64, 10, 128, 1},
                                         Product{5, 1, 9, 3}, Product{0, 4, 4, 1}, Product{4, 0, 4, 1},
                                         Product{4, 4, 0, 2}, Product{4, 4, 4, 0}, Product{1, 9, 33, 4}));

} // namespace
} // namespace cgx::test
