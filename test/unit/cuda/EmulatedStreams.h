//===-- EmulatedStreams.h - Streams of a GPU that is the processor ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams do at once what is put on them, or, where CGX_TEST_LATE_STREAMS is set, later and on threads of
// their own, as those of a GPU do: then work that nothing orders behind what it needs comes too early. Ranks
// must be threads for that.
#ifndef CGX_TEST_UNIT_CUDA_EMULATEDSTREAMS_H
#define CGX_TEST_UNIT_CUDA_EMULATEDSTREAMS_H

#include "HostBackend.h"
#include "cgx/kernels/cuda_peers.h"

#include <functional>

namespace cgx::cuda {

/// The GPU that the calling thread uses: each has a default stream.
inline thread_local int emulatedDevice = 0;

void putOn(Stream stream, std::function<void()> work);
void waitForWork(Stream stream);
bool isIdle(Stream stream);
/// As CUDA does before it gives memory back.
void waitForAllStreams();

/// Kernels in the order of streams.
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
