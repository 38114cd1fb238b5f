//===-- NoPeers.cpp - GPUs of several processes, built without CUDA -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/cuda_peers.h"

namespace cgx::cuda {

uint32_t deviceCount() { return 0; }
Outcome currentDevice(int &) { return availability(); }
Outcome useDevice(int) { return availability(); }
Outcome useDeviceOf(uint32_t) { return availability(); }
Outcome enablePeer(int) { return availability(); }
Outcome poll(Stream, bool &) { return availability(); }
bool isCapturing(Stream) { return false; }

void Event::release() {}
Outcome Event::make() { return availability(); }
Outcome Event::makeShared() { return availability(); }
Outcome Event::import(const IpcHandle &) { return availability(); }
Outcome Event::handle(IpcHandle &) const { return availability(); }
Outcome Event::record(Stream) { return availability(); }
Outcome Event::poll(bool &) const { return availability(); }
Outcome waitOn(Stream, CUevent_st *) { return availability(); }

Outcome allocateShared(Memory &, uint64_t) { return availability(); }
Outcome handleOf(const Memory &, IpcHandle &) { return availability(); }
void ImportedMemory::release() {}
Outcome ImportedMemory::open(const IpcHandle &) { return availability(); }

} // namespace cgx::cuda
