//===-- LinearAlgebraTest.cpp - Factorizations against their definition -*- C++ -*-===//
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
#include <random>
#include <vector>

namespace cgx::test {
namespace {

template <typename T> using RealOf = decltype(std::abs(T()));

/// A batch of row-major matrices.
template <typename T> struct Matrices {
  int64_t batch, m, n;
  std::vector<T> values = std::vector<T>(batch * m * n, T(42));

  T &at(int64_t b, int64_t i, int64_t j) { return values[(b * m + i) * n + j]; }
  int64_t data() { return address(values.data()); }
};

template <typename T> class LinearAlgebraTest : public testing::Test {
protected:
  using Real = RealOf<T>;
  static constexpr bool isComplex = !std::is_same_v<T, Real>;
  static constexpr int64_t letter =
      isComplex ? (sizeof(Real) == 4 ? 'c' : 'z') : (sizeof(Real) == 4 ? 's' : 'd');
  static constexpr Real tolerance = 200 * std::numeric_limits<Real>::epsilon();

  T number() {
    if constexpr (isComplex)
      return {static_cast<Real>(normal(random)), static_cast<Real>(normal(random))};
    else
      return static_cast<Real>(normal(random));
  }
  static T conjugate(T value) {
    if constexpr (isComplex)
      return std::conj(value);
    else
      return value;
  }
  Matrices<T> numbers(int64_t batch, int64_t m, int64_t n) {
    Matrices<T> result{batch, m, n};
    for (T &value : result.values)
      value = number();
    return result;
  }
  static Matrices<T> product(Matrices<T> a, Matrices<T> b) {
    Matrices<T> result{a.batch, a.m, b.n};
    for (int64_t p = 0; p < a.batch; ++p)
      for (int64_t i = 0; i < a.m; ++i)
        for (int64_t j = 0; j < b.n; ++j) {
          T sum = 0;
          for (int64_t k = 0; k < a.n; ++k)
            sum += a.at(p, i, k) * b.at(p, k, j);
          result.at(p, i, j) = sum;
        }
    return result;
  }
  static Matrices<T> adjoint(Matrices<T> a) {
    Matrices<T> result{a.batch, a.n, a.m};
    for (int64_t p = 0; p < a.batch; ++p)
      for (int64_t i = 0; i < a.m; ++i)
        for (int64_t j = 0; j < a.n; ++j)
          result.at(p, j, i) = conjugate(a.at(p, i, j));
    return result;
  }
  Matrices<T> positive(int64_t batch, int64_t n) {
    Matrices<T> a = numbers(batch, n, n), result = product(a, adjoint(a));
    for (int64_t p = 0; p < batch; ++p)
      for (int64_t i = 0; i < n; ++i)
        result.at(p, i, i) += T(static_cast<Real>(n));
    return result;
  }
  /// Returns the matrix with zeros where `keeps(i, j)` is false, and ones on the diagonal if `unit`.
  template <typename Keeps> static Matrices<T> masked(Matrices<T> a, Keeps keeps, bool unit = false) {
    for (int64_t p = 0; p < a.batch; ++p)
      for (int64_t i = 0; i < a.m; ++i)
        for (int64_t j = 0; j < a.n; ++j)
          if (unit && i == j)
            a.at(p, i, j) = 1;
          else if (!keeps(i, j))
            a.at(p, i, j) = 0;
    return a;
  }
  static void expectNear(Matrices<T> a, Matrices<T> b) {
    ASSERT_EQ(a.values.size(), b.values.size());
    Real scale = 1;
    for (T value : b.values)
      scale = std::max(scale, std::abs(value));
    for (size_t i = 0; i < a.values.size(); ++i)
      ASSERT_NEAR(std::abs(a.values[i] - b.values[i]), 0, tolerance * scale) << "element " << i;
  }

  std::mt19937 random{7};
  std::normal_distribution<double> normal;
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LinearAlgebraTest, Types);

TYPED_TEST(LinearAlgebraTest, CholeskyFactorsMultiplyToTheMatrix) {
  for (int64_t uplo : {'L', 'U'}) {
    Matrices<TypeParam> a = this->positive(3, 6), factor{3, 6, 6};
    std::vector<int> info(3, 9);
    cgx_native_cholesky(0, this->letter, uplo, 6, 3, a.data(), factor.data(), address(info.data()));
    EXPECT_EQ(info, std::vector<int>(3, 0));
    factor = this->masked(factor, [&](int64_t i, int64_t j) { return uplo == 'L' ? j <= i : j >= i; });
    Matrices<TypeParam> other = this->adjoint(factor);
    this->expectNear(uplo == 'L' ? this->product(factor, other) : this->product(other, factor), a);
  }
}

TYPED_TEST(LinearAlgebraTest, AnIndefiniteMatrixIsToldAndTheOthersAreFactored) {
  Matrices<TypeParam> a = this->positive(3, 4), factor{3, 4, 4};
  a.at(1, 2, 2) = -100;
  std::vector<int> info(3, 9);
  cgx_native_cholesky(0, this->letter, 'L', 4, 3, a.data(), factor.data(), address(info.data()));
  EXPECT_EQ(info, (std::vector<int>{0, 3, 0}));
}

TYPED_TEST(LinearAlgebraTest, RowsSwappedBackTheProductOfLAndUIsTheMatrix) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{5, 5}, {6, 3}, {3, 6}}) {
    int64_t least = std::min(m, n);
    Matrices<TypeParam> a = this->numbers(2, m, n), lu{2, m, n}, l{2, m, least}, u{2, least, n};
    std::vector<int> pivots(2 * least), info(2, 9);
    cgx_native_lu(0, this->letter, m, n, 2, a.data(), lu.data(), address(pivots.data()),
                  address(info.data()));
    EXPECT_EQ(info, std::vector<int>(2, 0));
    for (int64_t p = 0; p < 2; ++p)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          if (j < least)
            l.at(p, i, j) = i == j ? TypeParam(1) : i > j ? lu.at(p, i, j) : TypeParam(0);
          if (i < least)
            u.at(p, i, j) = i <= j ? lu.at(p, i, j) : TypeParam(0);
        }
    Matrices<TypeParam> permuted = a;
    for (int64_t p = 0; p < 2; ++p)
      for (int64_t i = 0; i < least; ++i)
        for (int64_t j = 0; j < n; ++j)
          std::swap(permuted.at(p, i, j), permuted.at(p, pivots[p * least + i] - 1, j));
    this->expectNear(this->product(l, u), permuted);
  }
}

TYPED_TEST(LinearAlgebraTest, OrthonormalColumnsTimesRAreTheMatrix) {
  Matrices<TypeParam> a = this->numbers(2, 6, 4), factors{2, 6, 4}, q{2, 6, 4}, whole{2, 6, 4}, tau{2, 4, 1};
  cgx_native_qr(0, this->letter, 6, 4, 2, a.data(), factors.data(), tau.data());
  cgx_native_householder_product(0, this->letter, 6, 4, 4, 2, factors.data(), tau.data(), q.data());
  Matrices<TypeParam> r = this->masked(factors, [](int64_t i, int64_t j) { return i <= j; }), top{2, 4, 4};
  for (int64_t p = 0; p < 2; ++p)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j)
        top.at(p, i, j) = r.at(p, i, j);
  this->expectNear(this->product(q, top), a);
  Matrices<TypeParam> identity = this->masked(
      Matrices<TypeParam>{2, 4, 4}, [](int64_t, int64_t) { return false; },
      /*unit=*/true);
  this->expectNear(this->product(this->adjoint(q), q), identity);
  // Q is applied to R without being formed.
  cgx_native_householder_multiply(0, this->letter, /*left=*/1, /*transpose=*/0, 6, 4, 4, 4, 2, factors.data(),
                                  tau.data(), r.data(), whole.data());
  this->expectNear(whole, a);
}

TYPED_TEST(LinearAlgebraTest, PermutedColumnsHaveTheirQr) {
  Matrices<TypeParam> a = this->numbers(1, 5, 5), factors{1, 5, 5}, q{1, 5, 5}, tau{1, 5, 1},
                      permuted{1, 5, 5};
  std::vector<int> first(5, 0), pivots(5, 9);
  cgx_native_pivoted_qr(0, this->letter, 5, 5, 1, a.data(), address(first.data()), factors.data(),
                        address(pivots.data()), tau.data());
  cgx_native_householder_product(0, this->letter, 5, 5, 5, 1, factors.data(), tau.data(), q.data());
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 5; ++j)
      permuted.at(0, i, j) = a.at(0, i, pivots[j] - 1);
  Matrices<TypeParam> r = this->masked(factors, [](int64_t i, int64_t j) { return i <= j; });
  this->expectNear(this->product(q, r), permuted);
}

TYPED_TEST(LinearAlgebraTest, EigenvectorsAreScaledByEigenvalues) {
  for (int64_t uplo : {'L', 'U'}) {
    Matrices<TypeParam> a = this->positive(2, 7), vectors{2, 7, 7}, scaled{2, 7, 7};
    std::vector<RealOf<TypeParam>> values(14);
    std::vector<int> info(2, 9);
    cgx_native_eigh(0, this->letter, 'V', uplo, 7, 2, a.data(), vectors.data(), address(values.data()),
                    address(info.data()));
    EXPECT_EQ(info, std::vector<int>(2, 0));
    EXPECT_TRUE(std::is_sorted(values.begin(), values.begin() + 7));
    for (int64_t p = 0; p < 2; ++p)
      for (int64_t i = 0; i < 7; ++i)
        for (int64_t j = 0; j < 7; ++j)
          scaled.at(p, i, j) = vectors.at(p, i, j) * values[p * 7 + j];
    this->expectNear(this->product(a, vectors), scaled);
  }
}

TYPED_TEST(LinearAlgebraTest, SingularVectorsRebuildTheMatrix) {
  for (int64_t mode : {'S', 'A'})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{4, 4}, {7, 3}, {3, 7}}) {
      int64_t least = std::min(m, n);
      Matrices<TypeParam> a = this->numbers(2, m, n), u{2, m, mode == 'A' ? m : least},
                          vt{2, mode == 'A' ? n : least, n};
      std::vector<RealOf<TypeParam>> s(2 * least);
      std::vector<int> info(2, 9);
      cgx_native_svd(0, this->letter, mode, m, n, 2, a.data(), address(s.data()), u.data(), vt.data(),
                     address(info.data()));
      EXPECT_EQ(info, std::vector<int>(2, 0));
      Matrices<TypeParam> scaled{2, m, vt.m};
      for (int64_t p = 0; p < 2; ++p)
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < vt.m; ++j)
            scaled.at(p, i, j) = j < least ? u.at(p, i, j) * s[p * least + j] : TypeParam(0);
      this->expectNear(this->product(scaled, vt), a);
    }
}

TYPED_TEST(LinearAlgebraTest, WhatIsNotFiniteHasNoFactorsAndEnds) {
  using Real = RealOf<TypeParam>;
  Matrices<TypeParam> a = this->positive(2, 5), vectors{2, 5, 5}, vt{2, 5, 5};
  a.at(0, 1, 3) = std::numeric_limits<Real>::quiet_NaN();
  std::vector<Real> values(10);
  std::vector<int> info(2, 9);
  cgx_native_eigh(0, this->letter, 'V', 'L', 5, 2, a.data(), vectors.data(), address(values.data()),
                  address(info.data()));
  EXPECT_NE(info[0], 0);
  EXPECT_EQ(info[1], 0);
  EXPECT_TRUE(std::isnan(values[0]));
  cgx_native_svd(0, this->letter, 'S', 5, 5, 2, a.data(), address(values.data()), vectors.data(), vt.data(),
                 address(info.data()));
  EXPECT_NE(info[0], 0);
  EXPECT_EQ(info[1], 0);
}

TYPED_TEST(LinearAlgebraTest, TriangularSystemsAreSolvedForEveryFlag) {
  for (int64_t side : {'L', 'R'})
    for (int64_t uplo : {'L', 'U'})
      for (int64_t trans : {'N', 'T', 'C'})
        for (int64_t diag : {'N', 'U'}) {
          int64_t m = 4, n = 3, order = side == 'L' ? m : n;
          Matrices<TypeParam> a = this->numbers(2, order, order), b = this->numbers(2, m, n), x{2, m, n};
          for (int64_t p = 0; p < 2; ++p)
            for (int64_t i = 0; i < order; ++i)
              a.at(p, i, i) += TypeParam(4);
          cgx_native_triangular_solve(0, this->letter, side, uplo, trans, diag, m, n, 2, a.data(), b.data(),
                                      x.data());
          Matrices<TypeParam> op = this->masked(
              a, [&](int64_t i, int64_t j) { return uplo == 'L' ? j <= i : j >= i; }, diag == 'U');
          if (trans != 'N')
            op = this->adjoint(op);
          if (trans == 'T')
            for (TypeParam &value : op.values)
              value = this->conjugate(value);
          this->expectNear(side == 'L' ? this->product(op, x) : this->product(x, op), b);
        }
}

TYPED_TEST(LinearAlgebraTest, TridiagonalSystemsAreSolved) {
  int64_t n = 6;
  Matrices<TypeParam> lower = this->numbers(2, n, 1), diagonal = this->numbers(2, n, 1),
                      upper = this->numbers(2, n, 1), b = this->numbers(2, n, 2), x{2, n, 2}, a{2, n, n};
  for (int64_t p = 0; p < 2; ++p)
    for (int64_t i = 0; i < n; ++i) {
      diagonal.at(p, i, 0) += TypeParam(5);
      for (int64_t j = 0; j < n; ++j)
        a.at(p, i, j) = j == i       ? diagonal.at(p, i, 0)
                        : j == i - 1 ? lower.at(p, i, 0)
                        : j == i + 1 ? upper.at(p, i, 0)
                                     : TypeParam(0);
    }
  std::vector<int> info(2, 9);
  cgx_native_tridiagonal_solve(0, this->letter, n, 2, 2, lower.data(), diagonal.data(), upper.data(),
                               b.data(), x.data(), address(info.data()));
  EXPECT_EQ(info, std::vector<int>(2, 0));
  this->expectNear(this->product(a, x), b);
}

TYPED_TEST(LinearAlgebraTest, NothingIsDoneToEmptyMatrices) {
  Matrices<TypeParam> a{2, 0, 0}, u{2, 3, 3};
  std::vector<int> info(2, 9);
  std::vector<RealOf<TypeParam>> values(1);
  cgx_native_cholesky(0, this->letter, 'L', 0, 2, a.data(), a.data(), address(info.data()));
  EXPECT_EQ(info, std::vector<int>(2, 0));
  cgx_native_eigh(0, this->letter, 'V', 'L', 0, 2, a.data(), a.data(), address(values.data()),
                  address(info.data()));
  cgx_native_qr(0, this->letter, 0, 3, 2, a.data(), a.data(), a.data());
  cgx_native_triangular_solve(0, this->letter, 'L', 'L', 'N', 'N', 0, 3, 2, a.data(), a.data(), a.data());
  // Any basis consists of singular vectors of a matrix without columns.
  cgx_native_svd(0, this->letter, 'A', 3, 0, 2, a.data(), address(values.data()), u.data(), a.data(),
                 address(info.data()));
  this->expectNear(u, this->masked(u, [](int64_t, int64_t) { return false; }, /*unit=*/true));
}

TEST(LinearAlgebraFailureTest, AnUnknownTypeFailsTheStep) {
  ContextSpec spec;
  spec.job = "linear-algebra";
  spec.manifest = R"({"cgx_manifest": 1, "hash": "0", "ranks": 1, "mesh": [], "arguments": [], "results": [],
                      "collectives": []})";
  ContextPtr context;
  ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
  ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
  int64_t nothing = 0;
  cgx_native_qr(address(context.get()), 'q', 1, 1, 1, nothing, nothing, nothing);
  EXPECT_NE(cgx_context_end_step(context.get()), CGX_OK);
  EXPECT_NE(std::string(cgx_last_error()).find("expected a type"), std::string::npos) << cgx_last_error();
}

} // namespace
} // namespace cgx::test
