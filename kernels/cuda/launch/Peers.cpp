//===-- Peers.cpp - GPUs of several processes by the CUDA runtime ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/cuda_peers.h"

#include "CudaError.h"

#include <cstring>

namespace cgx::cuda {

/// The driver's page size. Memory smaller than this shares its pages with other memory of this process.
static constexpr uint64_t kPageBytes = uint64_t(2) << 20;

uint32_t deviceCount() {
  int devices = 0;
  return availability().ok() && cudaGetDeviceCount(&devices) == cudaSuccess ? uint32_t(devices) : 0;
}

Outcome currentDevice(int &device) { return outcomeOf(cudaGetDevice(&device), "asking for the GPU in use"); }

Outcome useDevice(int device) {
  return outcomeOf(cudaSetDevice(device), ("using GPU " + std::to_string(device)).c_str());
}

Outcome useDeviceOf(uint32_t rankOnHost) {
  const uint32_t devices = deviceCount();
  return devices == 0 ? availability() : useDevice(int(rankOnHost % devices));
}

Outcome enablePeer(int device) {
  const cudaError_t error = cudaDeviceEnablePeerAccess(device, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return {};
  }
  return outcomeOf(error, ("reading the memory of GPU " + std::to_string(device)).c_str());
}

static Outcome outcomeOfQuery(cudaError_t error, bool &done) {
  done = error == cudaSuccess;
  if (error != cudaErrorNotReady)
    return outcomeOf(error, "working on a stream");
  (void)cudaGetLastError(); // clears the error, which the next launch must not find
  return {};
}

Outcome poll(Stream stream, bool &done) { return outcomeOfQuery(cudaStreamQuery(stream), done); }

bool isCapturing(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
    return status == cudaStreamCaptureStatusActive;
  (void)cudaGetLastError(); // the stream is the default one, and another one captures
  return false;
}

void Event::release() { (void)cudaEventDestroy(event); }

Outcome Event::make() {
  *this = Event();
  return outcomeOf(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
}

Outcome Event::makeShared() {
  *this = Event();
  return outcomeOf(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming),
                   "making an event that processes share");
}

Outcome Event::import(const IpcHandle &handle) {
  *this = Event();
  cudaIpcEventHandle_t theirs;
  static_assert(sizeof(theirs) == sizeof(handle));
  std::memcpy(&theirs, handle.data(), sizeof(theirs));
  return outcomeOf(cudaIpcOpenEventHandle(&event, theirs), "opening the event of another process");
}

Outcome Event::handle(IpcHandle &handle) const {
  cudaIpcEventHandle_t own;
  Outcome outcome = outcomeOf(cudaIpcGetEventHandle(&own, event), "sharing an event");
  std::memcpy(handle.data(), &own, sizeof(own));
  return outcome;
}

Outcome Event::record(Stream stream) {
  return outcomeOf(cudaEventRecord(event, stream), "recording an event");
}

Outcome Event::poll(bool &done) const { return outcomeOfQuery(cudaEventQuery(event), done); }

Outcome waitOn(Stream stream, CUevent_st *event) {
  return outcomeOf(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

Outcome allocateShared(Memory &memory, uint64_t bytes) {
  return memory.allocate(MemoryKind::device, (bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
}

Outcome handleOf(const Memory &memory, IpcHandle &handle) {
  cudaIpcMemHandle_t own;
  static_assert(sizeof(own) == sizeof(handle));
  Outcome outcome = outcomeOf(cudaIpcGetMemHandle(&own, memory.get()), "sharing memory");
  std::memcpy(handle.data(), &own, sizeof(own));
  return outcome;
}

void ImportedMemory::release() { (void)cudaIpcCloseMemHandle(address); }

Outcome ImportedMemory::open(const IpcHandle &handle) {
  *this = ImportedMemory();
  cudaIpcMemHandle_t theirs;
  std::memcpy(&theirs, handle.data(), sizeof(theirs));
  return outcomeOf(cudaIpcOpenMemHandle(&address, theirs, cudaIpcMemLazyEnablePeerAccess),
                   "opening the memory of another process");
}

} // namespace cgx::cuda
