//===-- DeviceCopy.h - What a GPU keeps of what the host saves ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What codecs remember is changed by kernels, and saved and restored on the host: there it begins, and
// becomes equal to what the GPU has when it is fetched.
#ifndef CGX_RUNTIME_CUDA_STATE_DEVICECOPY_H
#define CGX_RUNTIME_CUDA_STATE_DEVICECOPY_H

#include "cgx/kernels/cuda_memory.h"
#include "status/Status.h"

#include <span>

namespace cgx {

/// A copy on the GPU of memory of the host, which must stay where it is.
class DeviceCopy {
public:
  Status make(std::span<std::byte> of, cuda::Stream stream);

  /// Brings it to the host, once the stream is there.
  Status fetch(cuda::Stream stream) const;

  template <typename T> T *get() const { return memory.get<T>(); }

private:
  std::span<std::byte> onHost;
  cuda::Memory memory;
};

/// Whether mirrors have changed since they were fetched.
class MirrorLead {
public:
  void change(bool isCaptured) {
    isAhead = true;
    isReplayed = isReplayed || isCaptured;
  }

  /// Whether to fetch: replays of a graph change them unseen.
  bool end() { return std::exchange(isAhead, isReplayed); }

private:
  bool isAhead = false, isReplayed = false;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_DEVICECOPY_H
