//===-- StreamWait.h - Waiting for a stream ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_STREAM_STREAMWAIT_H
#define CGX_RUNTIME_CUDA_STREAM_STREAMWAIT_H

#include "cgx/kernels/cuda_peers.h"
#include "transport/Transport.h"

namespace cgx {

/// Waits until the stream has completed its work, or until a rank of the job is gone or silent, without which
/// it may never complete: then all waits on streams for other ranks are aborted.
Status waitForStream(Transport &transport, std::chrono::milliseconds timeout, cuda::Stream stream);

/// Waits for a point of a stream.
Status waitForEvent(Transport &transport, std::chrono::milliseconds timeout, const cuda::Event &event);

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STREAM_STREAMWAIT_H
