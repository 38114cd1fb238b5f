//===-- Memory.cpp - Memory, streams and graphs by the CUDA runtime -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/cuda_memory.h"

#include "CudaError.h"

namespace cgx::cuda {

/// The least compute capability that the kernels are compiled for.
static constexpr int kLeastCapability = 8;

/// Returns why a GPU that this process sees cannot be used, or "".
static std::string flawOf(int device) {
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return std::string("no CUDA device: ") + cudaGetErrorString(cudaGetLastError());
  return major >= kLeastCapability
             ? ""
             : "no CUDA device: expected compute capability " + std::to_string(kLeastCapability) +
                   ".0 or above, got " + std::to_string(major) + "." + std::to_string(minor) + " of GPU " +
                   std::to_string(device) + ", which CUDA_VISIBLE_DEVICES can hide";
}

/// Returns why there is no GPU, or "".
static const std::string &missingGpu() {
  // The first call's answer is kept, because drivers do not come and go while a process runs.
  static const std::string missing = []() -> std::string {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary)
      return "no CUDA device: no driver is installed (libcuda.so.1), or one older than CUDA " +
             std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10) +
             ": install NVIDIA's driver, or leave buffers in the memory of the host";
    if (error != cudaSuccess)
      return std::string("no CUDA device: ") + cudaGetErrorString(error);
    std::string flaw = devices == 0 ? "no CUDA device: the driver finds none" : "";
    for (int device = 0; device < devices && flaw.empty(); ++device)
      flaw = flawOf(device);
    return flaw;
  }();
  return missing;
}

Outcome availability() { return {missingGpu()}; }

MemoryKind memoryKindOf(const void *pointer) {
  cudaPointerAttributes attributes = {};
  if (!missingGpu().empty() ||
      !outcomeOf(cudaPointerGetAttributes(&attributes, pointer), "looking at memory").ok())
    return MemoryKind::host;
  switch (attributes.type) {
  case cudaMemoryTypeDevice:
  case cudaMemoryTypeManaged:
    return MemoryKind::device;
  case cudaMemoryTypeHost:
    return MemoryKind::pinned;
  default:
    return MemoryKind::host;
  }
}

Outcome Memory::allocate(MemoryKind ofKind, uint64_t bytes) {
  if (Outcome outcome = availability(); !outcome.ok())
    return outcome;
  *this = Memory();
  const std::string amount = std::to_string(bytes) + " bytes of ";
  Outcome outcome = ofKind == MemoryKind::device
                        ? outcomeOf(cudaMalloc(&address, bytes), (amount + "device memory").c_str())
                        : outcomeOf(cudaHostAlloc(&address, bytes, cudaHostAllocDefault),
                                    (amount + "pinned memory").c_str());
  if (outcome.ok()) {
    kind = ofKind;
    size = bytes;
  }
  return outcome;
}

void Memory::release() {
  // When a process ends, the CUDA runtime may end before its memory is released; then nothing is left to do.
  if (kind == MemoryKind::device)
    (void)cudaFree(address);
  else if (kind == MemoryKind::pinned)
    (void)cudaFreeHost(address);
}

Outcome copy(void *to, const void *from, uint64_t bytes, Stream stream) {
  if (bytes == 0)
    return {};
  return outcomeOf(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying memory");
}

Outcome copyRows(const RowCopy &rows, Stream stream) {
  if (rows.width == 0 || rows.rows == 0)
    return {};
  return outcomeOf(cudaMemcpy2DAsync(rows.to, rows.toPitch, rows.from, rows.fromPitch, rows.width, rows.rows,
                                     cudaMemcpyDeviceToDevice, stream),
                   "copying rows of memory");
}

Outcome clear(void *memory, uint64_t bytes, Stream stream) {
  return outcomeOf(cudaMemsetAsync(memory, 0, bytes, stream), "clearing memory");
}

Outcome waitFor(Stream stream) { return outcomeOf(cudaStreamSynchronize(stream), "waiting for a stream"); }

Outcome makeStream(Stream &stream) {
  if (Outcome outcome = availability(); !outcome.ok())
    return outcome;
  return outcomeOf(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
}

void destroyStream(Stream stream) { (void)cudaStreamDestroy(stream); }

Outcome timeOn(Stream stream, const std::function<Outcome()> &put, double &seconds) {
  cudaEvent_t begin, end;
  if (Outcome outcome = outcomeOf(cudaEventCreate(&begin), "making an event"); !outcome.ok())
    return outcome;
  if (Outcome outcome = outcomeOf(cudaEventCreate(&end), "making an event"); !outcome.ok()) {
    (void)cudaEventDestroy(begin);
    return outcome;
  }
  Outcome outcome = outcomeOf(cudaEventRecord(begin, stream), "recording an event");
  if (outcome.ok())
    outcome = put();
  if (outcome.ok())
    outcome = outcomeOf(cudaEventRecord(end, stream), "recording an event");
  if (outcome.ok())
    outcome = outcomeOf(cudaEventSynchronize(end), "waiting for an event");
  float milliseconds = 0.0f;
  if (outcome.ok())
    outcome = outcomeOf(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
  seconds = double(milliseconds) * 1e-3;
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return outcome;
}

Outcome replayGraph(Stream stream, uint32_t times, const std::function<Outcome()> &put) {
  if (Outcome outcome =
          outcomeOf(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
      !outcome.ok())
    return outcome;
  Outcome outcome = put();
  cudaGraph_t graph = nullptr;
  const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t ready = nullptr;
  if (outcome.ok())
    outcome = outcomeOf(captured, "capturing a graph");
  if (outcome.ok())
    outcome = outcomeOf(cudaGraphInstantiate(&ready, graph, 0), "making a graph");
  for (uint32_t time = 0; time < times && outcome.ok(); ++time)
    outcome = outcomeOf(cudaGraphLaunch(ready, stream), "replaying a graph");
  if (outcome.ok())
    outcome = waitFor(stream);
  if (ready)
    (void)cudaGraphExecDestroy(ready);
  if (graph)
    (void)cudaGraphDestroy(graph);
  return outcome;
}

} // namespace cgx::cuda
