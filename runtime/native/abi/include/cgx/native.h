/*===-- cgx/native.h - Computations of natively compiled steps --------*- C -*-===*\
|*                                                                              *|
|* Part of cgx, under the Apache License v2.0 with LLVM Exceptions.             *|
|* See LICENSE for license information.                                         *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      *|
|*                                                                              *|
\*===--------------------------------------------------------------------------===*/
/* The C ABI of libcgx_native.so: products, convolutions, factorizations, transforms and sorting, for steps
 * that cgx-compile made. It communicates nothing; programs that only communicate do not load it. Arguments
 * are integers only: buffers are addresses on the host, `context` is that of the step (cgx/runtime.h), which
 * a failure ends, or 0. */
#ifndef CGX_NATIVE_H
#define CGX_NATIVE_H

#include <stdint.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

#define CGX_NATIVE_ABI_VERSION 1u

/* Row-major matrix products on OpenBLAS: C[m,n] = op(A) * op(B), where `trans` is 1 for a
 * transposed operand. `batch` products, each stride (in elements) apart. */
void cgx_native_matmul_f32(int64_t a, int64_t b, int64_t c, int64_t trans_a, int64_t trans_b, int64_t m,
                           int64_t n, int64_t k, int64_t batch, int64_t stride_a, int64_t stride_b,
                           int64_t stride_c);

/* Linear algebra on the LAPACK of OpenBLAS: `batch` row-major matrices follow each other. `type` is
 * LAPACK's letter of their elements: 's' f32, 'd' f64, 'c' and 'z' complex numbers of two of these; other
 * letters are LAPACK's too, as in the custom calls that JAX prints. No result overlaps an operand. `info` is
 * an int32 for each matrix: 0, or LAPACK's error; if it is not 0, results must not be used. A call
 * that runs out of memory fails the step. */

/* Replaces the triangle `uplo` ('L' or 'U') of n by n matrices by their Cholesky factor, and keeps the other
 * one. */
void cgx_native_cholesky(int64_t context, int64_t type, int64_t uplo, int64_t n, int64_t batch, int64_t a,
                         int64_t factor, int64_t info);
/* Factors m by n matrices to L and U, with the min(m, n) rows that were swapped, counted from 1. */
void cgx_native_lu(int64_t context, int64_t type, int64_t m, int64_t n, int64_t batch, int64_t a,
                   int64_t factors, int64_t pivots, int64_t info);
/* Factors m by n matrices to R and the min(m, n) reflectors of Q below it, whose factors are `tau`. */
void cgx_native_qr(int64_t context, int64_t type, int64_t m, int64_t n, int64_t batch, int64_t a,
                   int64_t factors, int64_t tau);
/* Factors matrices with permuted columns like cgx_native_qr: `columns_first` names those to move to the
 * front, `pivots` tells where each came from, counted from 1; both are n int32 for each matrix. */
void cgx_native_pivoted_qr(int64_t context, int64_t type, int64_t m, int64_t n, int64_t batch, int64_t a,
                           int64_t columns_first, int64_t factors, int64_t pivots, int64_t tau);
/* Computes the first n columns of Q, from k reflectors in the first columns of `a`. */
void cgx_native_householder_product(int64_t context, int64_t type, int64_t m, int64_t n, int64_t k,
                                    int64_t batch, int64_t a, int64_t tau, int64_t q);
/* Computes Q c or c Q (`left` is 0), or with `transpose` the products of Q's adjoint, for m by n matrices
 * `c`. */
void cgx_native_householder_multiply(int64_t context, int64_t type, int64_t left, int64_t transpose,
                                     int64_t m, int64_t n, int64_t columns_of_a, int64_t k, int64_t batch,
                                     int64_t a, int64_t tau, int64_t c, int64_t out);
/* Computes eigenvalues, ascending, and eigenvectors (`mode` 'V'; else 'N') of the Hermitian matrices whose
 * triangle is `uplo`. */
void cgx_native_eigh(int64_t context, int64_t type, int64_t mode, int64_t uplo, int64_t n, int64_t batch,
                     int64_t a, int64_t vectors, int64_t values, int64_t info);
/* Computes eigenvalues of any matrices, and if `left` or `right` is 'V' (else 'N', and the vectors are not
 * written) their eigenvectors, complex and of length 1. Eigenvalues of real matrices are two vectors of real
 * numbers; those of complex ones are in `real`, and `imaginary` is not written. */
void cgx_native_eig(int64_t context, int64_t type, int64_t left, int64_t right, int64_t n, int64_t batch,
                    int64_t a, int64_t real, int64_t imaginary, int64_t left_vectors, int64_t right_vectors,
                    int64_t info);
/* Computes Schur's form t with a = z t z^H, the eigenvalues as above, and the vectors z (`mode` 'V'; else
 * 'N', and they are not written). Real matrices have blocks of 2 by 2 for pairs of complex eigenvalues. */
void cgx_native_schur(int64_t context, int64_t type, int64_t mode, int64_t n, int64_t batch, int64_t a,
                      int64_t t, int64_t z, int64_t real, int64_t imaginary, int64_t info);
/* Computes Hessenberg's form as LAPACK packs it, with the reflectors below; rows and columns `low` to `high`,
 * from 1, are reduced. n - 1 `tau` for each matrix. */
void cgx_native_hessenberg(int64_t context, int64_t type, int64_t low, int64_t high, int64_t n, int64_t batch,
                           int64_t a, int64_t factors, int64_t tau, int64_t info);
/* Reduces the Hermitian matrices whose triangle is `uplo` to tridiagonal form: `diagonal` has n and `beside`
 * n - 1 real numbers. */
void cgx_native_tridiagonal(int64_t context, int64_t type, int64_t uplo, int64_t n, int64_t batch, int64_t a,
                            int64_t factors, int64_t diagonal, int64_t beside, int64_t tau, int64_t info);
/* Computes singular values and vectors of m by n matrices: all of them ('A'), the first min(m, n) ('S'), or
 * none ('N': `u` and `vt` are not written). */
void cgx_native_svd(int64_t context, int64_t type, int64_t mode, int64_t m, int64_t n, int64_t batch,
                    int64_t a, int64_t s, int64_t u, int64_t vt, int64_t info);
/* Solves op(a) x = b (`side` 'L') or x op(a) = b ('R') with b of m by n. */
void cgx_native_triangular_solve(int64_t context, int64_t type, int64_t side, int64_t uplo, int64_t trans,
                                 int64_t diag, int64_t m, int64_t n, int64_t batch, int64_t a, int64_t b,
                                 int64_t x);
/* Solves for x of n by `columns` with the three diagonals times x = b. All have n elements: the first of
 * `lower` and the last of `upper` are not read. */
void cgx_native_tridiagonal_solve(int64_t context, int64_t type, int64_t n, int64_t columns, int64_t batch,
                                  int64_t lower, int64_t diagonal, int64_t upper, int64_t b, int64_t x,
                                  int64_t info);

/* Computes Fourier transforms, as numpy scales them, of `batch` blocks of up to three dimensions; leading
 * ones are 1. `type` is 's' or 'd'. A complex number is two of these; of the last dimension of a real
 * signal's spectrum there are length2 / 2 + 1. Any length takes n log n. */
typedef enum cgx_fft_kind {
  CGX_FFT_FORWARD = 0,
  CGX_FFT_INVERSE = 1,
  CGX_FFT_REAL = 2,
  CGX_FFT_INVERSE_REAL = 3
} cgx_fft_kind;
void cgx_native_fft(int64_t context, int64_t type, int64_t kind, int64_t batch, int64_t length0,
                    int64_t length1, int64_t length2, int64_t in, int64_t out);

/* Sorts: computes where the first `kept` elements of each row came from, equal ones in their order. `keys`
 * are `outer` blocks of `extent` by `inner` elements of `bytes`, a power of two up to 8; a row runs along
 * `extent`, which is below 2^31. `places` are as many blocks of `kept` by `inner` int32. */
typedef enum cgx_sort_kind {
  CGX_SORT_UNSIGNED = 0,
  CGX_SORT_SIGNED = 1,
  CGX_SORT_TOTAL = 2,  /* floats by IEEE 754's total order: -NaN, -infinity, ... -0, 0, ... infinity, NaN */
  CGX_SORT_NUMBERS = 3 /* floats by their value: zeros are equal, and so are NaNs, above all; `infinity` is
                          the bits of infinity, above which all are NaN */
} cgx_sort_kind;
void cgx_native_sort_places(int64_t context, int64_t kind, int64_t bytes, int64_t infinity,
                            int64_t descending, int64_t outer, int64_t extent, int64_t inner, int64_t kept,
                            int64_t keys, int64_t places);

/* Convolutions of f32, and their gradients, over up to three spatial dimensions; missing ones come first,
 * with sizes of 1. The input has `in_size` places, read in steps of `stride`, the kernel's places `dilation`
 * apart, from `low` zeros before the input on; as many zeros as are needed follow it. */
#define CGX_CONVOLUTION_DIMENSIONS 3
typedef enum cgx_convolution_kind {
  CGX_CONVOLUTION_OUTPUT = 0,         /* from input and kernel */
  CGX_CONVOLUTION_INPUT_GRADIENT = 1, /* from the output's gradient and the kernel */
  CGX_CONVOLUTION_KERNEL_GRADIENT = 2 /* from the input and the output's gradient */
} cgx_convolution_kind;
/* Strides in memory, in elements: of the first index (samples of input and output; the kernel's features of
 * the output), the second (features; the kernel's features of the input), and the places. */
typedef struct cgx_convolution_strides {
  int64_t first, second, places[CGX_CONVOLUTION_DIMENSIONS];
} cgx_convolution_strides;
typedef struct cgx_convolution {
  int64_t kind;
  int64_t samples, in_features, out_features;
  int64_t in_size[CGX_CONVOLUTION_DIMENSIONS], kernel_size[CGX_CONVOLUTION_DIMENSIONS],
      out_size[CGX_CONVOLUTION_DIMENSIONS];
  int64_t stride[CGX_CONVOLUTION_DIMENSIONS], dilation[CGX_CONVOLUTION_DIMENSIONS],
      low[CGX_CONVOLUTION_DIMENSIONS];
  cgx_convolution_strides input, kernel, output;
} cgx_convolution;
/* Computes a convolution. `convolution` is the address of its description; the last of the three buffers of
 * its kind is written. */
void cgx_native_convolution_f32(int64_t context, int64_t convolution, int64_t first, int64_t second,
                                int64_t out);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif /* CGX_NATIVE_H */
