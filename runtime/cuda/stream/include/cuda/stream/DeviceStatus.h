//===-- DeviceStatus.h - CUDA failures as statuses --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_STREAM_DEVICESTATUS_H
#define CGX_RUNTIME_CUDA_STREAM_DEVICESTATUS_H

#include "cgx/kernels/cuda_memory.h"
#include "status/Status.h"

namespace cgx {

/// Returns a CUDA failure as a status of the runtime.
inline Status statusOf(const cuda::Outcome &outcome) {
  return outcome.ok() ? Status() : Status(CGX_RESOURCE_EXHAUSTED, outcome.error);
}

/// Returns true if this is memory of a GPU.
inline bool isOnDevice(const void *pointer) {
  return cuda::memoryKindOf(pointer) == cuda::MemoryKind::device;
}

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STREAM_DEVICESTATUS_H
