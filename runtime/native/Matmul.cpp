//===-- native/Matmul.cpp - Matrix products on OpenBLAS ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OneThread.h"

#include "cgx/native.h"

#include <algorithm>
#include <limits>

namespace {

/// Multiplies by the definition, for sizes beyond the integers of BLAS.
void plainProduct(const float *a, const float *b, float *c, bool transA, bool transB, int64_t m, int64_t n,
                  int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += (transA ? a[l * m + i] : a[i * k + l]) * (transB ? b[j * k + l] : b[l * n + j]);
      c[i * n + j] = sum;
    }
}

} // namespace

extern "C" void cgx_native_matmul_f32(int64_t a, int64_t b, int64_t c, int64_t trans_a, int64_t trans_b,
                                      int64_t m, int64_t n, int64_t k, int64_t batch, int64_t stride_a,
                                      int64_t stride_b, int64_t stride_c) {
  if (m <= 0 || n <= 0 || batch <= 0)
    return;
  cgx::useOneThread();
  bool transA = trans_a != 0, transB = trans_b != 0;
  const auto *left = reinterpret_cast<const float *>(a);
  const auto *right = reinterpret_cast<const float *>(b);
  auto *product = reinterpret_cast<float *>(c);
  bool fits = std::max({m, n, k}) <= std::numeric_limits<int>::max();
  for (int64_t i = 0; i < batch; ++i, left += stride_a, right += stride_b, product += stride_c) {
    if (k <= 0)
      // an empty sum, for which BLAS would require a leading dimension of 1
      std::fill_n(product, m * n, 0.0f);
    else if (!fits)
      plainProduct(left, right, product, transA, transB, m, n, k);
    else
      cblas_sgemm(CblasRowMajor, transA ? CblasTrans : CblasNoTrans, transB ? CblasTrans : CblasNoTrans,
                  int(m), int(n), int(k), 1.0f, left, int(transA ? m : k), right, int(transB ? k : n), 0.0f,
                  product, int(n));
  }
}
