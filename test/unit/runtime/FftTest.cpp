//===-- FftTest.cpp - Fourier transforms against their definition -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"

#include "cgx/native.h"

#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace cgx::test {
namespace {

using Wide = std::complex<long double>;

/// Transforms along the last of three dimensions.
std::vector<Wide> transformed(const std::vector<Wide> &x, size_t n, double sign) {
  std::vector<Wide> roots(n), result(x.size());
  for (size_t k = 0; k < n; ++k)
    roots[k] = std::polar(1.0L, static_cast<long double>(sign) * 2 * std::numbers::pi_v<long double> *
                                    static_cast<long double>(k) / static_cast<long double>(n));
  for (size_t row = 0; row < x.size(); row += n)
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j)
        result[row + k] += x[row + j] * roots[j * k % n];
  return result;
}

/// Makes the last dimension the first.
std::vector<Wide> turned(const std::vector<Wide> &x, size_t n) {
  std::vector<Wide> result(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    result[i % n * (x.size() / n) + i / n] = x[i];
  return result;
}

/// Transforms along all three dimensions of a block by the definition, unscaled.
std::vector<Wide> definition(std::vector<Wide> x, const int64_t (&lengths)[3], double sign) {
  for (int dim : {2, 1, 0})
    x = turned(transformed(x, static_cast<size_t>(lengths[dim]), sign), static_cast<size_t>(lengths[dim]));
  return x;
}

template <typename Real> class FftTest : public testing::Test {
protected:
  using Complex = std::complex<Real>;
  static constexpr int64_t letter = sizeof(Real) == 4 ? 's' : 'd';

  std::vector<Complex> numbers(int64_t count) {
    std::vector<Complex> result(static_cast<size_t>(count));
    for (Complex &value : result)
      value = {static_cast<Real>(normal(random)), static_cast<Real>(normal(random))};
    return result;
  }
  static void expectNear(const std::vector<Complex> &result, const std::vector<Wide> &expected) {
    ASSERT_EQ(result.size(), expected.size());
    long double largest = 0, error = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(Wide(result[i]) - expected[i]));
    }
    EXPECT_LE(error, 30 * std::numeric_limits<Real>::epsilon() * largest);
  }
  /// Checks all four transforms of two blocks.
  void check(const int64_t (&lengths)[3]) {
    int64_t count = lengths[0] * lengths[1] * lengths[2], kept = lengths[2] / 2 + 1;
    int64_t rows = lengths[0] * lengths[1];
    std::vector<Complex> in = numbers(2 * count), out(in.size()), half(static_cast<size_t>(2 * rows * kept));
    auto run = [&](int64_t kind, const void *from, void *to) {
      cgx_native_fft(0, letter, kind, 2, lengths[0], lengths[1], lengths[2], address(from), address(to));
    };
    std::vector<Real> signal(in.size()), back(in.size());
    for (size_t i = 0; i < in.size(); ++i)
      signal[i] = in[i].real();
    for (double sign : {-1.0, 1.0}) {
      run(sign < 0 ? CGX_FFT_FORWARD : CGX_FFT_INVERSE, in.data(), out.data());
      std::vector<Wide> expected;
      for (int64_t block = 0; block < 2; ++block) {
        std::vector<Wide> part =
            definition({in.begin() + block * count, in.begin() + (block + 1) * count}, lengths, sign);
        for (Wide value : part)
          expected.push_back(sign < 0 ? value : value / static_cast<long double>(count));
      }
      expectNear(out, expected);
    }
    run(CGX_FFT_REAL, signal.data(), half.data());
    std::vector<Wide> expected;
    for (int64_t block = 0; block < 2; ++block) {
      std::vector<Wide> part =
          definition({signal.begin() + block * count, signal.begin() + (block + 1) * count}, lengths, -1);
      for (int64_t row = 0; row < rows; ++row)
        expected.insert(expected.end(), part.begin() + row * lengths[2],
                        part.begin() + row * lengths[2] + kept);
    }
    expectNear(half, expected);
    run(CGX_FFT_INVERSE_REAL, half.data(), back.data());
    for (size_t i = 0; i < signal.size(); ++i)
      ASSERT_NEAR(back[i], signal[i], 100 * std::numeric_limits<Real>::epsilon()) << "element " << i;
  }

  std::mt19937 random{11};
  std::normal_distribution<double> normal;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftTest, Types);

TYPED_TEST(FftTest, EveryLengthHasItsTransform) {
  for (int64_t n = 1; n <= 140; ++n)
    this->check({1, 1, n});
  for (int64_t n : {211, 256, 359, 509, 512, 1000})
    this->check({1, 1, n});
}

TYPED_TEST(FftTest, SoHaveSeveralDimensions) {
  this->check({1, 4, 6});
  this->check({1, 5, 7});
  this->check({3, 4, 5});
  this->check({2, 67, 3});
  this->check({71, 1, 2});
}

TYPED_TEST(FftTest, WhatIsNotFiniteStaysInItsBlock) {
  std::vector<TypeParam> signal(16, TypeParam(1));
  signal[3] = std::numeric_limits<TypeParam>::quiet_NaN();
  std::vector<std::complex<TypeParam>> spectrum(10);
  cgx_native_fft(0, this->letter, CGX_FFT_REAL, 2, 1, 1, 8, address(signal.data()), address(spectrum.data()));
  EXPECT_TRUE(std::isnan(spectrum[0].real()));
  EXPECT_EQ(spectrum[5], std::complex<TypeParam>(8));
}

} // namespace
} // namespace cgx::test
