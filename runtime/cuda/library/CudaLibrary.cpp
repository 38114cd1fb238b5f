//===-- cuda/library/CudaLibrary.cpp - Loads the kernels for GPUs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the functions of cgx/kernels/cuda*.h as the runtime calls them: the first call of any of them
// loads the library, which stays loaded. If it cannot be loaded there is no GPU, and the functions that can
// report a reason do.
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/cuda_library.h"

#include "library/OpenLibrary.h"

#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <type_traits>

namespace cgx::cuda {
namespace {

struct Loaded {
  const CudaLibrary *library = nullptr;
  std::string error;
};

Loaded load() {
  const OpenedLibrary opened = openLibrary("CGX_CUDA_LIBRARY", {CGX_CUDA_LIBRARY_NAME});
  if (!opened.handle)
    return {nullptr, "cannot load the kernels for GPUs: " + opened.error +
                         ": install all of cgx, whose libraries lie beside each other, or name the file by "
                         "CGX_CUDA_LIBRARY=FILE"};
  const auto *found = static_cast<const CudaLibrary *>(dlsym(opened.handle, kCudaLibrarySymbol));
  if (!found || std::strcmp(found->version, CGX_RUNTIME_VERSION) != 0)
    return {nullptr, "expected a library of kernels for GPUs of cgx " CGX_RUNTIME_VERSION ", got " +
                         (found ? "that of " + std::string(found->version)
                                : std::string("one without ") + kCudaLibrarySymbol)};
  return {found, ""};
}

const Loaded &loaded() {
  static const Loaded only = load();
  return only;
}

/// Calls a function of the library. Without the library, returns the reason for that, or else an empty value.
template <typename Function, typename... Arguments>
auto call(Function CudaLibrary::*function, Arguments &&...arguments) {
  using Result = std::invoke_result_t<Function, Arguments...>;
  if (const CudaLibrary *library = loaded().library)
    return std::invoke(library->*function, std::forward<Arguments>(arguments)...);
  if constexpr (std::is_same_v<Result, Outcome>)
    return Outcome{loaded().error};
  else
    return Result();
}

/// Calls a function that makes a group. Without the library, `outcome` tells the reason.
template <typename Function, typename Layers>
auto make(Function CudaLibrary::*function, Layers layers, Outcome &outcome) {
  outcome.error = loaded().error;
  return call(function, layers, outcome);
}

} // namespace

Outcome availability() { return call(&CudaLibrary::availability); }
std::string checkCodec(const cgx_codec &codec, cgx_element_type type) {
  return loaded().library ? call(&CudaLibrary::checkCodec, codec, type) : loaded().error;
}

std::unique_ptr<Group> makeEncodeGroup(std::span<const EncodeLayer> layers, Outcome &outcome) {
  return make(&CudaLibrary::makeEncodeGroup, layers, outcome);
}
std::unique_ptr<Group> makeOwnerGroup(std::span<const OwnerLayer> layers, Outcome &outcome) {
  return make(&CudaLibrary::makeOwnerGroup, layers, outcome);
}
std::unique_ptr<Group> makeReduceGroup(std::span<const ReduceLayer> layers, Outcome &outcome) {
  return make(&CudaLibrary::makeReduceGroup, layers, outcome);
}
std::unique_ptr<Group> makeDecodeGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  return make(&CudaLibrary::makeDecodeGroup, layers, outcome);
}
std::unique_ptr<Group> makeAccumulateGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  return make(&CudaLibrary::makeAccumulateGroup, layers, outcome);
}
std::unique_ptr<LowrankGroup> makeLowrankGroup(std::span<const LowrankLayer> layers, Outcome &outcome) {
  return make(&CudaLibrary::makeLowrankGroup, layers, outcome);
}

Outcome advanceStep(Stream stream, StepState *state) {
  return call(&CudaLibrary::advanceStep, stream, state);
}

MemoryKind memoryKindOf(const void *pointer) { return call(&CudaLibrary::memoryKindOf, pointer); }
Outcome Memory::allocate(MemoryKind ofKind, uint64_t bytes) {
  return call(&CudaLibrary::allocateMemory, this, ofKind, bytes);
}
void Memory::release() { call(&CudaLibrary::releaseMemory, this); }
Outcome copy(void *to, const void *from, uint64_t bytes, Stream stream) {
  return call(&CudaLibrary::copy, to, from, bytes, stream);
}
Outcome copyRows(const RowCopy &rows, Stream stream) { return call(&CudaLibrary::copyRows, rows, stream); }
Outcome clear(void *memory, uint64_t bytes, Stream stream) {
  return call(&CudaLibrary::clear, memory, bytes, stream);
}
Outcome waitFor(Stream stream) { return call(&CudaLibrary::waitFor, stream); }
Outcome makeStream(Stream &stream) { return call(&CudaLibrary::makeStream, stream); }
void destroyStream(Stream stream) { call(&CudaLibrary::destroyStream, stream); }
Outcome timeOn(Stream stream, const std::function<Outcome()> &put, double &seconds) {
  return call(&CudaLibrary::timeOn, stream, put, seconds);
}
Outcome replayGraph(Stream stream, uint32_t times, const std::function<Outcome()> &put) {
  return call(&CudaLibrary::replayGraph, stream, times, put);
}

uint32_t deviceCount() { return call(&CudaLibrary::deviceCount); }
Outcome currentDevice(int &device) { return call(&CudaLibrary::currentDevice, device); }
Outcome useDevice(int device) { return call(&CudaLibrary::useDevice, device); }
Outcome useDeviceOf(uint32_t rankOnHost) { return call(&CudaLibrary::useDeviceOf, rankOnHost); }
Outcome enablePeer(int device) { return call(&CudaLibrary::enablePeer, device); }
Outcome poll(Stream stream, bool &done) { return call(&CudaLibrary::poll, stream, done); }
bool isCapturing(Stream stream) { return call(&CudaLibrary::isCapturing, stream); }
Outcome waitOn(Stream stream, CUevent_st *event) { return call(&CudaLibrary::waitOn, stream, event); }

Outcome Event::make() { return call(&CudaLibrary::makeEvent, this); }
Outcome Event::makeShared() { return call(&CudaLibrary::makeSharedEvent, this); }
Outcome Event::import(const IpcHandle &handle) { return call(&CudaLibrary::importEvent, this, handle); }
Outcome Event::handle(IpcHandle &handle) const { return call(&CudaLibrary::handleOfEvent, this, handle); }
Outcome Event::record(Stream stream) { return call(&CudaLibrary::recordEvent, this, stream); }
Outcome Event::poll(bool &done) const { return call(&CudaLibrary::pollEvent, this, done); }
void Event::release() { call(&CudaLibrary::releaseEvent, this); }

Outcome allocateShared(Memory &memory, uint64_t bytes) {
  return call(&CudaLibrary::allocateShared, memory, bytes);
}
Outcome handleOf(const Memory &memory, IpcHandle &handle) {
  return call(&CudaLibrary::handleOf, memory, handle);
}
Outcome ImportedMemory::open(const IpcHandle &handle) {
  return call(&CudaLibrary::openImported, this, handle);
}
void ImportedMemory::release() { call(&CudaLibrary::releaseImported, this); }

} // namespace cgx::cuda
