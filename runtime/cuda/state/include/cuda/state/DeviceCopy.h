//===-- DeviceCopy.h - Copies of codec state on a GPU -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels change the state of codecs, and the host saves and restores it. The state begins on the host, and
// the host's copy equals the GPU's again when it is fetched.
#ifndef CGX_RUNTIME_CUDA_STATE_DEVICECOPY_H
#define CGX_RUNTIME_CUDA_STATE_DEVICECOPY_H

#include "cgx/kernels/cuda_memory.h"
#include "status/Status.h"

#include <span>

namespace cgx {

/// A copy on the GPU of memory of the host, which must not move.
class DeviceCopy {
public:
  Status make(std::span<std::byte> of, cuda::Stream stream);

  /// Copies it to the host, once the stream is there.
  Status fetch(cuda::Stream stream) const;

  template <typename T> T *get() const { return memory.get<T>(); }

private:
  std::span<std::byte> onHost;
  cuda::Memory memory;
};

/// Tells whether device copies have changed since they were fetched.
class UnfetchedChanges {
public:
  void change(bool isCaptured) {
    isAhead = true;
    isReplayed = isReplayed || isCaptured;
  }

  /// Returns true if they must be fetched: replays of a graph change them without a call.
  bool end() { return std::exchange(isAhead, isReplayed); }

private:
  bool isAhead = false, isReplayed = false;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_DEVICECOPY_H
