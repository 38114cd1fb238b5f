//===-- native/LinearAlgebra.cpp - Factorizations on OpenBLAS's LAPACK -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs store matrices by row, LAPACK by column, so a matrix is transposed on the way in and out, which is
// cheap beside the cubic work. If a value is not finite, iterations that may not end are not started.
//
//===----------------------------------------------------------------------===//
#include "Failure.h"
#include "Lapack.h"
#include "OneThread.h"

#include "cgx/native.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace lapack = cgx::lapack;

template <typename T> using RealOf = decltype(std::abs(T()));
template <typename T> constexpr bool isComplex = !std::is_same_v<T, RealOf<T>>;

template <typename T> T *pointer(int64_t address) { return reinterpret_cast<T *>(address); }

/// Returns an extent in the integers of LAPACK.
int extent(int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max())
    throw std::invalid_argument("linear algebra: expected extents below 2^31, got " + std::to_string(value));
  return static_cast<int>(value);
}

/// Calls `body` with a value of the type of LAPACK's letter. An exception fails the step.
template <typename Body> void forType(int64_t context, int64_t letter, Body body) noexcept {
  try {
    cgx::useOneThread();
    switch (letter) {
    case 's':
      return body(float());
    case 'd':
      return body(double());
    case 'c':
      return body(std::complex<float>());
    case 'z':
      return body(std::complex<double>());
    default:
      throw std::invalid_argument("linear algebra: expected a type s, d, c or z, got " +
                                  std::to_string(letter));
    }
  } catch (...) {
    cgx::failStep(context, std::current_exception());
  }
}

/// Transposes: columns[j * m + i] = rows[i * n + j].
template <typename T> void toColumns(const T *rows, T *columns, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      columns[j * m + i] = rows[i * n + j];
}
template <typename T> void toRows(const T *columns, T *rows, int64_t m, int64_t n) {
  toColumns(columns, rows, n, m);
}

/// Returns the workspace size that a routine requested as a number of the matrix's type, which may be rounded
/// down.
template <typename T> int workspaceSize(T answer) {
  using Real = RealOf<T>;
  return std::max(1, extent(static_cast<int64_t>(
                         std::ceil(std::nextafter(std::real(answer), std::numeric_limits<Real>::max())))));
}

/// Calls `routine(work, size, &info)` with the workspace that it requests.
template <typename T, typename Routine> int withWorkspace(Routine routine) {
  T answer{};
  int info = 0;
  routine(&answer, -1, &info);
  std::vector<T> work(workspaceSize(answer));
  routine(work.data(), static_cast<int>(work.size()), &info);
  return info;
}

template <typename T> bool isFinite(const T *values, int64_t count) {
  return std::all_of(values, values + count, [](T value) {
    return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
  });
}

template <typename T> void fillNan(T *values, int64_t count) {
  std::fill_n(values, count, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}

/// Returns matrix number `index` of a batch of m by n.
template <typename T> T *matrix(T *batch, int64_t index, int64_t m, int64_t n = 1) {
  return batch + index * m * n;
}

/// Unpacks eigenvectors to complex numbers. For a real matrix LAPACK stores the real and the imaginary part
/// of the first vector of a pair of conjugate eigenvalues in two columns.
template <typename T>
void unpackVectors(const T *columns, const T *imaginary, std::complex<RealOf<T>> *rows, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    bool isPair = false;
    if constexpr (!isComplex<T>)
      isPair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (isComplex<T>)
        rows[i * n + j] = columns[j * n + i];
      else if (isPair)
        rows[i * n + j] = {columns[j * n + i], columns[(j + 1) * n + i]};
      else
        rows[i * n + j] = columns[j * n + i];
      if (isPair)
        rows[i * n + j + 1] = std::conj(rows[i * n + j]);
    }
    j += isPair;
  }
}

/// Returns LAPACK's triangle of a matrix whose rows are LAPACK's columns.
char mirrored(int64_t uplo) { return uplo == 'L' ? 'U' : 'L'; }

} // namespace

extern "C" {

void cgx_native_cholesky(int64_t context, int64_t type, int64_t uplo, int64_t n, int64_t batch, int64_t a,
                         int64_t factor, int64_t info) {
  // LAPACK sees the transposed, and therefore conjugate, matrix: the other triangle of its factor is the
  // transposed factor.
  forType(context, type, [&]<typename T>(T) {
    const auto *from = pointer<const T>(a);
    auto *to = pointer<T>(factor);
    std::copy_n(from, batch * n * n, to);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (n > 0)
        lapack::potrf(mirrored(uplo), extent(n), matrix(to, i, n, n), status);
    }
  });
}

void cgx_native_lu(int64_t context, int64_t type, int64_t m, int64_t n, int64_t batch, int64_t a,
                   int64_t factors, int64_t pivots, int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> columns(m * n);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (columns.empty())
        continue;
      toColumns(matrix(pointer<const T>(a), i, m, n), columns.data(), m, n);
      lapack::getrf(extent(m), extent(n), columns.data(), matrix(pointer<int>(pivots), i, std::min(m, n)),
                    status);
      toRows(columns.data(), matrix(pointer<T>(factors), i, m, n), m, n);
    }
  });
}

void cgx_native_qr(int64_t context, int64_t type, int64_t m, int64_t n, int64_t batch, int64_t a,
                   int64_t factors, int64_t tau) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> columns(m * n);
    for (int64_t i = 0; i < batch && !columns.empty(); ++i) {
      toColumns(matrix(pointer<const T>(a), i, m, n), columns.data(), m, n);
      withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::geqrf(extent(m), extent(n), columns.data(), matrix(pointer<T>(tau), i, std::min(m, n)), work,
                      size, info);
      });
      toRows(columns.data(), matrix(pointer<T>(factors), i, m, n), m, n);
    }
  });
}

void cgx_native_pivoted_qr(int64_t context, int64_t type, int64_t m, int64_t n, int64_t batch, int64_t a,
                           int64_t columns_first, int64_t factors, int64_t pivots, int64_t tau) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> columns(m * n);
    std::vector<RealOf<T>> real(2 * n);
    std::copy_n(pointer<const int>(columns_first), batch * n, pointer<int>(pivots));
    for (int64_t i = 0; i < batch && !columns.empty(); ++i) {
      toColumns(matrix(pointer<const T>(a), i, m, n), columns.data(), m, n);
      withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::geqp3(extent(m), extent(n), columns.data(), matrix(pointer<int>(pivots), i, n),
                      matrix(pointer<T>(tau), i, std::min(m, n)), work, size, real.data(), info);
      });
      toRows(columns.data(), matrix(pointer<T>(factors), i, m, n), m, n);
    }
  });
}

void cgx_native_householder_product(int64_t context, int64_t type, int64_t m, int64_t n, int64_t k,
                                    int64_t batch, int64_t a, int64_t tau, int64_t q) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> columns(m * n);
    for (int64_t i = 0; i < batch && !columns.empty(); ++i) {
      toColumns(matrix(pointer<const T>(a), i, m, n), columns.data(), m, n);
      withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::orgqr(extent(m), extent(n), extent(k), columns.data(), matrix(pointer<const T>(tau), i, k),
                      work, size, info);
      });
      toRows(columns.data(), matrix(pointer<T>(q), i, m, n), m, n);
    }
  });
}

void cgx_native_householder_multiply(int64_t context, int64_t type, int64_t left, int64_t transpose,
                                     int64_t m, int64_t n, int64_t columns_of_a, int64_t k, int64_t batch,
                                     int64_t a, int64_t tau, int64_t c, int64_t out) {
  forType(context, type, [&]<typename T>(T) {
    int64_t order = left ? m : n;
    char trans = !transpose ? 'N' : isComplex<T> ? 'C' : 'T';
    std::vector<T> reflectors(order * columns_of_a), columns(m * n);
    for (int64_t i = 0; i < batch && !columns.empty(); ++i) {
      toColumns(matrix(pointer<const T>(a), i, order, columns_of_a), reflectors.data(), order, columns_of_a);
      toColumns(matrix(pointer<const T>(c), i, m, n), columns.data(), m, n);
      withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::ormqr(left ? 'L' : 'R', trans, extent(m), extent(n), extent(k), reflectors.data(),
                      extent(order), matrix(pointer<const T>(tau), i, k), columns.data(), work, size, info);
      });
      toRows(columns.data(), matrix(pointer<T>(out), i, m, n), m, n);
    }
  });
}

void cgx_native_eigh(int64_t context, int64_t type, int64_t mode, int64_t uplo, int64_t n, int64_t batch,
                     int64_t a, int64_t vectors, int64_t values, int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    using Real = RealOf<T>;
    std::vector<T> columns(n * n);
    // The sizes are those of LAPACK's manual, the maximum of its cases.
    std::vector<Real> real(isComplex<T> ? 1 + 5 * n + 2 * n * n : 1);
    std::vector<int> integers(3 + 5 * n);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (n == 0)
        continue;
      T *v = matrix(pointer<T>(vectors), i, n, n);
      Real *w = matrix(pointer<Real>(values), i, n);
      toColumns(matrix(pointer<const T>(a), i, n, n), columns.data(), n, n);
      if (!isFinite(columns.data(), n * n)) {
        fillNan(v, n * n);
        fillNan(w, n);
        *status = 1;
        continue;
      }
      *status = withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::syevd(static_cast<char>(mode), static_cast<char>(uplo), extent(n), columns.data(), w, work,
                      size, real.data(), extent(real.size()), integers.data(), extent(integers.size()), info);
      });
      toRows(columns.data(), v, n, n);
    }
  });
}

void cgx_native_eig(int64_t context, int64_t type, int64_t left, int64_t right, int64_t n, int64_t batch,
                    int64_t a, int64_t real, int64_t imaginary, int64_t left_vectors, int64_t right_vectors,
                    int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    using Real = RealOf<T>;
    using Complex = std::complex<Real>;
    std::vector<T> columns(n * n), leftColumns(n * n), rightColumns(n * n);
    std::vector<Real> rwork(isComplex<T> ? 2 * n : 1);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (n == 0)
        continue;
      T *values = matrix(pointer<T>(real), i, n);
      T *imaginaryValues = isComplex<T> ? nullptr : matrix(pointer<T>(imaginary), i, n);
      Complex *leftOut = left == 'V' ? matrix(pointer<Complex>(left_vectors), i, n, n) : nullptr;
      Complex *rightOut = right == 'V' ? matrix(pointer<Complex>(right_vectors), i, n, n) : nullptr;
      toColumns(matrix(pointer<const T>(a), i, n, n), columns.data(), n, n);
      if (isFinite(columns.data(), n * n)) {
        *status = withWorkspace<T>([&](T *work, int size, int *info) {
          lapack::geev(static_cast<char>(left), static_cast<char>(right), extent(n), columns.data(), values,
                       imaginaryValues, leftColumns.data(), rightColumns.data(), work, size, rwork.data(),
                       info);
        });
        if (leftOut)
          unpackVectors(leftColumns.data(), imaginaryValues, leftOut, n);
        if (rightOut)
          unpackVectors(rightColumns.data(), imaginaryValues, rightOut, n);
        continue;
      }
      *status = 1;
      fillNan(values, n);
      if (imaginaryValues)
        fillNan(imaginaryValues, n);
      for (Complex *out : {leftOut, rightOut})
        if (out)
          fillNan(out, n * n);
    }
  });
}

void cgx_native_schur(int64_t context, int64_t type, int64_t mode, int64_t n, int64_t batch, int64_t a,
                      int64_t t, int64_t z, int64_t real, int64_t imaginary, int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> columns(n * n), vectors(n * n);
    std::vector<RealOf<T>> rwork(isComplex<T> ? n : 1);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (n == 0)
        continue;
      T *form = matrix(pointer<T>(t), i, n, n);
      T *vectorsOut = mode == 'V' ? matrix(pointer<T>(z), i, n, n) : nullptr;
      T *values = matrix(pointer<T>(real), i, n);
      T *imaginaryValues = isComplex<T> ? nullptr : matrix(pointer<T>(imaginary), i, n);
      toColumns(matrix(pointer<const T>(a), i, n, n), columns.data(), n, n);
      if (isFinite(columns.data(), n * n)) {
        *status = withWorkspace<T>([&](T *work, int size, int *info) {
          lapack::gees(static_cast<char>(mode), extent(n), columns.data(), values, imaginaryValues,
                       vectors.data(), work, size, rwork.data(), info);
        });
        toRows(columns.data(), form, n, n);
        if (vectorsOut)
          toRows(vectors.data(), vectorsOut, n, n);
        continue;
      }
      *status = 1;
      fillNan(form, n * n);
      fillNan(values, n);
      if (imaginaryValues)
        fillNan(imaginaryValues, n);
      if (vectorsOut)
        fillNan(vectorsOut, n * n);
    }
  });
}

void cgx_native_hessenberg(int64_t context, int64_t type, int64_t low, int64_t high, int64_t n, int64_t batch,
                           int64_t a, int64_t factors, int64_t tau, int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> columns(n * n), scales(std::max<int64_t>(1, n));
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (n == 0)
        continue;
      toColumns(matrix(pointer<const T>(a), i, n, n), columns.data(), n, n);
      *status = withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::gehrd(extent(n), extent(low), extent(high), columns.data(), scales.data(), work, size, info);
      });
      toRows(columns.data(), matrix(pointer<T>(factors), i, n, n), n, n);
      std::copy_n(scales.begin(), n - 1, matrix(pointer<T>(tau), i, n - 1));
    }
  });
}

void cgx_native_tridiagonal(int64_t context, int64_t type, int64_t uplo, int64_t n, int64_t batch, int64_t a,
                            int64_t factors, int64_t diagonal, int64_t beside, int64_t tau, int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    using Real = RealOf<T>;
    std::vector<T> columns(n * n);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (n == 0)
        continue;
      toColumns(matrix(pointer<const T>(a), i, n, n), columns.data(), n, n);
      *status = withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::sytrd(static_cast<char>(uplo), extent(n), columns.data(),
                      matrix(pointer<Real>(diagonal), i, n), matrix(pointer<Real>(beside), i, n - 1),
                      matrix(pointer<T>(tau), i, n - 1), work, size, info);
      });
      toRows(columns.data(), matrix(pointer<T>(factors), i, n, n), n, n);
    }
  });
}

void cgx_native_svd(int64_t context, int64_t type, int64_t mode, int64_t m, int64_t n, int64_t batch,
                    int64_t a, int64_t s, int64_t u, int64_t vt, int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    using Real = RealOf<T>;
    int64_t least = std::min(m, n), most = std::max(m, n);
    int64_t uColumns = mode == 'A' ? m : mode == 'S' ? least : 0;
    int64_t vtRows = mode == 'A' ? n : mode == 'S' ? least : 0;
    std::vector<T> columns(m * n), left(std::max<int64_t>(1, m * uColumns)),
        right(std::max<int64_t>(1, vtRows * n));
    std::vector<int> integers(8 * least);
    // The size is that of LAPACK's manual, the maximum of its cases.
    std::vector<Real> real(
        isComplex<T> ? least * std::max(5 * least + 7, 2 * most + 2 * least + 1) + 7 * least + 1 : 1);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      Real *values = matrix(pointer<Real>(s), i, least);
      T *uOut = matrix(pointer<T>(u), i, m, uColumns), *vtOut = matrix(pointer<T>(vt), i, vtRows, n);
      const T *from = matrix(pointer<const T>(a), i, m, n);
      if (!isFinite(from, m * n)) {
        fillNan(values, least);
        fillNan(uOut, m * uColumns);
        fillNan(vtOut, vtRows * n);
        *status = 1;
        continue;
      }
      toColumns(from, columns.data(), m, n);
      if (least == 0) { // the result is the identity, of any extent
        for (int64_t j = 0; j < m * uColumns; ++j)
          uOut[j] = j % (m + 1) == 0 ? T(1) : T(0);
        for (int64_t j = 0; j < n * vtRows; ++j)
          vtOut[j] = j % (n + 1) == 0 ? T(1) : T(0);
        continue;
      }
      *status = withWorkspace<T>([&](T *work, int size, int *info) {
        lapack::gesdd(static_cast<char>(mode), extent(m), extent(n), columns.data(), values, left.data(),
                      extent(m), right.data(), extent(std::max<int64_t>(1, vtRows)), work, size, real.data(),
                      integers.data(), info);
      });
      toRows(left.data(), uOut, m, uColumns);
      toRows(right.data(), vtOut, vtRows, n);
    }
  });
}

void cgx_native_triangular_solve(int64_t context, int64_t type, int64_t side, int64_t uplo, int64_t trans,
                                 int64_t diag, int64_t m, int64_t n, int64_t batch, int64_t a, int64_t b,
                                 int64_t x) {
  forType(context, type, [&]<typename T>(T) {
    if (m == 0 || n == 0)
      return;
    int64_t order = side == 'L' ? m : n;
    int rows = extent(m), columns = extent(n), ld = extent(order);
    auto solve = [&](auto routine, auto one, const T *triangle, T *inOut) {
      routine(CblasColMajor, side == 'L' ? CblasLeft : CblasRight, uplo == 'L' ? CblasLower : CblasUpper,
              trans == 'N'   ? CblasNoTrans
              : trans == 'T' ? CblasTrans
                             : CblasConjTrans,
              diag == 'U' ? CblasUnit : CblasNonUnit, rows, columns, one, triangle, ld, inOut, rows);
    };
    // The solution proceeds by columns as well, so that dividing by a zero on the diagonal gives the same
    // infinities and NaNs as in JAX.
    std::vector<T> triangle(order * order), inOut(m * n);
    T one = 1;
    for (int64_t i = 0; i < batch; ++i) {
      toColumns(matrix(pointer<const T>(a), i, order, order), triangle.data(), order, order);
      toColumns(matrix(pointer<const T>(b), i, m, n), inOut.data(), m, n);
      if constexpr (std::is_same_v<T, float>)
        solve(cblas_strsm, one, triangle.data(), inOut.data());
      else if constexpr (std::is_same_v<T, double>)
        solve(cblas_dtrsm, one, triangle.data(), inOut.data());
      else if constexpr (std::is_same_v<T, std::complex<float>>)
        solve(cblas_ctrsm, &one, triangle.data(), inOut.data());
      else
        solve(cblas_ztrsm, &one, triangle.data(), inOut.data());
      toRows(inOut.data(), matrix(pointer<T>(x), i, m, n), m, n);
    }
  });
}

void cgx_native_tridiagonal_solve(int64_t context, int64_t type, int64_t n, int64_t columns, int64_t batch,
                                  int64_t lower, int64_t diagonal, int64_t upper, int64_t b, int64_t x,
                                  int64_t info) {
  forType(context, type, [&]<typename T>(T) {
    std::vector<T> below(n), on(n), above(n), right(n * columns);
    for (int64_t i = 0; i < batch; ++i) {
      int *status = &pointer<int>(info)[i];
      *status = 0;
      if (right.empty())
        continue;
      std::copy_n(matrix(pointer<const T>(lower), i, n) + 1, n - 1, below.begin());
      std::copy_n(matrix(pointer<const T>(diagonal), i, n), n, on.begin());
      std::copy_n(matrix(pointer<const T>(upper), i, n), n - 1, above.begin());
      toColumns(matrix(pointer<const T>(b), i, n, columns), right.data(), n, columns);
      lapack::gtsv(extent(n), extent(columns), below.data(), on.data(), above.data(), right.data(), status);
      toRows(right.data(), matrix(pointer<T>(x), i, n, columns), n, columns);
    }
  });
}

} // extern "C"
