//===-- KeptMemory.h - Memory that is kept until the process exits -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_STREAM_KEPTMEMORY_H
#define CGX_RUNTIME_CUDA_STREAM_KEPTMEMORY_H

#include <mutex>
#include <vector>

namespace cgx {

/// Keeps an object that must not be released, because other ranks may use it, or because a stream may wait
/// for ever and releasing would wait for the stream. A job has few of these, and they end with its process.
template <typename T> void keepUntilExit(T &&kept) {
  static std::mutex mutex;
  static auto &all = *new std::vector<T>();
  const std::lock_guard lock(mutex);
  all.push_back(std::move(kept));
}

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STREAM_KEPTMEMORY_H
