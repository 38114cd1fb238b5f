//===-- native/OneThread.h - BLAS on the calling thread ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank computes on one thread: ranks provide the parallelism, and a pool of threads in each would
// compete for the cores.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_NATIVE_ONETHREAD_H
#define CGX_RUNTIME_NATIVE_ONETHREAD_H

#include <cblas.h>
#include <mutex>

namespace cgx {

inline void useOneThread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

} // namespace cgx

#endif // CGX_RUNTIME_NATIVE_ONETHREAD_H
