//===-- EmulatedStreams.h - Streams of an emulated GPU ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams run work at once, or, if CGX_TEST_LATE_STREAMS is set, later and on threads of their own, like
// those of a GPU. Then work that nothing orders after its input runs too early. Ranks must be threads for
// that.
#ifndef CGX_TEST_UNIT_CUDA_EMULATEDSTREAMS_H
#define CGX_TEST_UNIT_CUDA_EMULATEDSTREAMS_H

#include "HostBackend.h"
#include "cgx/kernels/cuda_peers.h"

#include <functional>

namespace cgx::cuda {

/// The GPU that the calling thread uses. Each GPU has a default stream.
inline thread_local int emulatedDevice = 0;

void putOn(Stream stream, std::function<void()> work);
void waitForWork(Stream stream);
bool isIdle(Stream stream);
/// Waits for all streams, as CUDA does before it frees memory.
void waitForAllStreams();

/// A backend that runs kernels in the order of streams.
class StreamBackend : public HostBackend {
public:
  void release(void *memory) {
    waitForAllStreams();
    HostBackend::release(memory);
  }
  Outcome download(void *to, const void *from, uint64_t bytes, Stream stream) {
    waitForWork(stream);
    return HostBackend::download(to, from, bytes, stream);
  }
  template <typename Body>
  Outcome launch(const Body &body, const TileRange *ranges, uint32_t count, Stream stream) {
    putOn(stream, [body, ranges, count] { (void)HostBackend().launch(body, ranges, count, nullptr).ok(); });
    return {};
  }
};

} // namespace cgx::cuda

#endif // CGX_TEST_UNIT_CUDA_EMULATEDSTREAMS_H
