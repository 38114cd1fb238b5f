//===-- native/Lapack.h - The routines of LAPACK that steps use ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OpenBLAS has all of these functions and a header for none. Matrices are stored by column; each one-letter
// text has its length as a hidden argument at the end, as gfortran passes it. There is one overload for each
// element type.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_NATIVE_LAPACK_H
#define CGX_RUNTIME_NATIVE_LAPACK_H

#include <complex>
#include <cstddef>

namespace cgx::lapack {

using Letter = const char *;
using Number = const int *;

// Routines with the same signature for all element types T.
#define CGX_LAPACK_ROUTINES(T, letter, apply, generate)                                                      \
  extern "C" void letter##potrf_(Letter uplo, Number n, T *a, Number lda, int *info, size_t);                \
  extern "C" void letter##getrf_(Number m, Number n, T *a, Number lda, int *pivots, int *info);              \
  extern "C" void letter##geqrf_(Number m, Number n, T *a, Number lda, T *tau, T *work, Number lwork,        \
                                 int *info);                                                                 \
  extern "C" void letter##generate##_(Number m, Number n, Number k, T *a, Number lda, const T *tau, T *work, \
                                      Number lwork, int *info);                                              \
  extern "C" void letter##apply##_(Letter side, Letter trans, Number m, Number n, Number k, const T *a,      \
                                   Number lda, const T *tau, T *c, Number ldc, T *work, Number lwork,        \
                                   int *info, size_t, size_t);                                               \
  extern "C" void letter##gehrd_(Number n, Number low, Number high, T *a, Number lda, T *tau, T *work,       \
                                 Number lwork, int *info);                                                   \
  extern "C" void letter##gtsv_(Number n, Number columns, T *lower, T *diagonal, T *upper, T *b, Number ldb, \
                                int *info);                                                                  \
  inline void potrf(char uplo, int n, T *a, int *info) { letter##potrf_(&uplo, &n, a, &n, info, 1); }        \
  inline void getrf(int m, int n, T *a, int *pivots, int *info) {                                            \
    letter##getrf_(&m, &n, a, &m, pivots, info);                                                             \
  }                                                                                                          \
  inline void geqrf(int m, int n, T *a, T *tau, T *work, int lwork, int *info) {                             \
    letter##geqrf_(&m, &n, a, &m, tau, work, &lwork, info);                                                  \
  }                                                                                                          \
  inline void orgqr(int m, int n, int k, T *a, const T *tau, T *work, int lwork, int *info) {                \
    letter##generate##_(&m, &n, &k, a, &m, tau, work, &lwork, info);                                         \
  }                                                                                                          \
  inline void ormqr(char side, char trans, int m, int n, int k, const T *a, int lda, const T *tau, T *c,     \
                    T *work, int lwork, int *info) {                                                         \
    letter##apply##_(&side, &trans, &m, &n, &k, a, &lda, tau, c, &m, work, &lwork, info, 1, 1);              \
  }                                                                                                          \
  inline void gehrd(int n, int low, int high, T *a, T *tau, T *work, int lwork, int *info) {                 \
    letter##gehrd_(&n, &low, &high, a, &n, tau, work, &lwork, info);                                         \
  }                                                                                                          \
  inline void gtsv(int n, int columns, T *lower, T *diagonal, T *upper, T *b, int *info) {                   \
    letter##gtsv_(&n, &columns, lower, diagonal, upper, b, &n, info);                                        \
  }

CGX_LAPACK_ROUTINES(float, s, ormqr, orgqr)
CGX_LAPACK_ROUTINES(double, d, ormqr, orgqr)
CGX_LAPACK_ROUTINES(std::complex<float>, c, unmqr, ungqr)
CGX_LAPACK_ROUTINES(std::complex<double>, z, unmqr, ungqr)
#undef CGX_LAPACK_ROUTINES

// Routines that need more workspace for complex numbers. The wrappers for real ones ignore `rwork`, since
// LAPACK has no such argument there.
#define CGX_LAPACK_REAL_ROUTINES(T, letter)                                                                  \
  extern "C" void letter##geev_(Letter left, Letter right, Number n, T *a, Number lda, T *real,              \
                                T *imaginary, T *vl, Number ldvl, T *vr, Number ldvr, T *work, Number lwork, \
                                int *info, size_t, size_t);                                                  \
  extern "C" void letter##gees_(Letter jobvs, Letter sort, const void *select, Number n, T *a, Number lda,   \
                                int *selected, T *real, T *imaginary, T *vs, Number ldvs, T *work,           \
                                Number lwork, int *bwork, int *info, size_t, size_t);                        \
  extern "C" void letter##sytrd_(Letter uplo, Number n, T *a, Number lda, T *d, T *e, T *tau, T *work,       \
                                 Number lwork, int *info, size_t);                                           \
  inline void geev(char left, char right, int n, T *a, T *real, T *imaginary, T *vl, T *vr, T *work,         \
                   int lwork, T *, int *info) {                                                              \
    letter##geev_(&left, &right, &n, a, &n, real, imaginary, vl, &n, vr, &n, work, &lwork, info, 1, 1);      \
  }                                                                                                          \
  inline void gees(char jobvs, int n, T *a, T *real, T *imaginary, T *vs, T *work, int lwork, T *,           \
                   int *info) {                                                                              \
    int selected = 0;                                                                                        \
    letter##gees_(&jobvs, "N", nullptr, &n, a, &n, &selected, real, imaginary, vs, &n, work, &lwork,         \
                  nullptr, info, 1, 1);                                                                      \
  }                                                                                                          \
  inline void sytrd(char uplo, int n, T *a, T *d, T *e, T *tau, T *work, int lwork, int *info) {             \
    letter##sytrd_(&uplo, &n, a, &n, d, e, tau, work, &lwork, info, 1);                                      \
  }                                                                                                          \
  extern "C" void letter##geqp3_(Number m, Number n, T *a, Number lda, int *columns, T *tau, T *work,        \
                                 Number lwork, int *info);                                                   \
  extern "C" void letter##syevd_(Letter jobz, Letter uplo, Number n, T *a, Number lda, T *w, T *work,        \
                                 Number lwork, int *iwork, Number liwork, int *info, size_t, size_t);        \
  extern "C" void letter##gesdd_(Letter jobz, Number m, Number n, T *a, Number lda, T *s, T *u, Number ldu,  \
                                 T *vt, Number ldvt, T *work, Number lwork, int *iwork, int *info, size_t);  \
  inline void geqp3(int m, int n, T *a, int *columns, T *tau, T *work, int lwork, T *, int *info) {          \
    letter##geqp3_(&m, &n, a, &m, columns, tau, work, &lwork, info);                                         \
  }                                                                                                          \
  inline void syevd(char jobz, char uplo, int n, T *a, T *w, T *work, int lwork, T *, int, int *iwork,       \
                    int liwork, int *info) {                                                                 \
    letter##syevd_(&jobz, &uplo, &n, a, &n, w, work, &lwork, iwork, &liwork, info, 1, 1);                    \
  }                                                                                                          \
  inline void gesdd(char jobz, int m, int n, T *a, T *s, T *u, int ldu, T *vt, int ldvt, T *work, int lwork, \
                    T *, int *iwork, int *info) {                                                            \
    letter##gesdd_(&jobz, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, info, 1);               \
  }

CGX_LAPACK_REAL_ROUTINES(float, s)
CGX_LAPACK_REAL_ROUTINES(double, d)
#undef CGX_LAPACK_REAL_ROUTINES

#define CGX_LAPACK_COMPLEX_ROUTINES(T, R, letter)                                                            \
  extern "C" void letter##geev_(Letter left, Letter right, Number n, T *a, Number lda, T *values, T *vl,     \
                                Number ldvl, T *vr, Number ldvr, T *work, Number lwork, R *rwork, int *info, \
                                size_t, size_t);                                                             \
  extern "C" void letter##gees_(Letter jobvs, Letter sort, const void *select, Number n, T *a, Number lda,   \
                                int *selected, T *values, T *vs, Number ldvs, T *work, Number lwork,         \
                                R *rwork, int *bwork, int *info, size_t, size_t);                            \
  extern "C" void letter##hetrd_(Letter uplo, Number n, T *a, Number lda, R *d, R *e, T *tau, T *work,       \
                                 Number lwork, int *info, size_t);                                           \
  inline void geev(char left, char right, int n, T *a, T *values, T *, T *vl, T *vr, T *work, int lwork,     \
                   R *rwork, int *info) {                                                                    \
    letter##geev_(&left, &right, &n, a, &n, values, vl, &n, vr, &n, work, &lwork, rwork, info, 1, 1);        \
  }                                                                                                          \
  inline void gees(char jobvs, int n, T *a, T *values, T *, T *vs, T *work, int lwork, R *rwork,             \
                   int *info) {                                                                              \
    int selected = 0;                                                                                        \
    letter##gees_(&jobvs, "N", nullptr, &n, a, &n, &selected, values, vs, &n, work, &lwork, rwork, nullptr,  \
                  info, 1, 1);                                                                               \
  }                                                                                                          \
  inline void sytrd(char uplo, int n, T *a, R *d, R *e, T *tau, T *work, int lwork, int *info) {             \
    letter##hetrd_(&uplo, &n, a, &n, d, e, tau, work, &lwork, info, 1);                                      \
  }                                                                                                          \
  extern "C" void letter##geqp3_(Number m, Number n, T *a, Number lda, int *columns, T *tau, T *work,        \
                                 Number lwork, R *rwork, int *info);                                         \
  extern "C" void letter##heevd_(Letter jobz, Letter uplo, Number n, T *a, Number lda, R *w, T *work,        \
                                 Number lwork, R *rwork, Number lrwork, int *iwork, Number liwork,           \
                                 int *info, size_t, size_t);                                                 \
  extern "C" void letter##gesdd_(Letter jobz, Number m, Number n, T *a, Number lda, R *s, T *u, Number ldu,  \
                                 T *vt, Number ldvt, T *work, Number lwork, R *rwork, int *iwork, int *info, \
                                 size_t);                                                                    \
  inline void geqp3(int m, int n, T *a, int *columns, T *tau, T *work, int lwork, R *rwork, int *info) {     \
    letter##geqp3_(&m, &n, a, &m, columns, tau, work, &lwork, rwork, info);                                  \
  }                                                                                                          \
  inline void syevd(char jobz, char uplo, int n, T *a, R *w, T *work, int lwork, R *rwork, int lrwork,       \
                    int *iwork, int liwork, int *info) {                                                     \
    letter##heevd_(&jobz, &uplo, &n, a, &n, w, work, &lwork, rwork, &lrwork, iwork, &liwork, info, 1, 1);    \
  }                                                                                                          \
  inline void gesdd(char jobz, int m, int n, T *a, R *s, T *u, int ldu, T *vt, int ldvt, T *work, int lwork, \
                    R *rwork, int *iwork, int *info) {                                                       \
    letter##gesdd_(&jobz, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &lwork, rwork, iwork, info, 1);        \
  }

CGX_LAPACK_COMPLEX_ROUTINES(std::complex<float>, float, c)
CGX_LAPACK_COMPLEX_ROUTINES(std::complex<double>, double, z)
#undef CGX_LAPACK_COMPLEX_ROUTINES

} // namespace cgx::lapack

#endif // CGX_RUNTIME_NATIVE_LAPACK_H
