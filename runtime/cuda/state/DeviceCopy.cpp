//===-- DeviceCopy.cpp - Copies of codec state on a GPU -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/state/DeviceCopy.h"

#include "cuda/stream/DeviceStatus.h"

namespace cgx {

Status DeviceCopy::make(std::span<std::byte> of, cuda::Stream stream) {
  onHost = of;
  if (of.empty())
    return Status();
  if (Status status = statusOf(memory.allocate(cuda::MemoryKind::device, of.size())); !status.ok())
    return status;
  return statusOf(cuda::copy(memory.get(), of.data(), of.size(), stream));
}

Status DeviceCopy::fetch(cuda::Stream stream) const {
  return statusOf(cuda::copy(onHost.data(), memory.get(), onHost.size(), stream));
}

} // namespace cgx
