//===-- cuda_library.h - The kernels for GPUs as a library to load ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcgx_cuda.so exports, beside the functions themselves, a table of them, for programs that load it when a
// GPU is asked for and are linked with no library of CUDA. Both must have the same version of cgx.
#ifndef CGX_KERNELS_CUDA_LIBRARY_H
#define CGX_KERNELS_CUDA_LIBRARY_H

#include "cgx/kernels/cuda_lowrank.h"
#include "cgx/kernels/cuda_peers.h"

namespace cgx::cuda {

/// The functions of cuda.h, cuda_lowrank.h, cuda_memory.h and cuda_peers.h, under the name cgx_cuda_library.
/// A new library holds the functions that its maker is linked with.
struct CudaLibrary {
  const char *version; ///< of cgx

  // These functions are declared in cuda.h.
  decltype(&cuda::availability) availability = &cuda::availability;
  decltype(&cuda::makeEncodeGroup) makeEncodeGroup = &cuda::makeEncodeGroup;
  decltype(&cuda::makeOwnerGroup) makeOwnerGroup = &cuda::makeOwnerGroup;
  decltype(&cuda::makeReduceGroup) makeReduceGroup = &cuda::makeReduceGroup;
  decltype(&cuda::makeDecodeGroup) makeDecodeGroup = &cuda::makeDecodeGroup;
  decltype(&cuda::makeAccumulateGroup) makeAccumulateGroup = &cuda::makeAccumulateGroup;
  decltype(&cuda::advanceStep) advanceStep = &cuda::advanceStep;
  decltype(&cuda::checkCodec) checkCodec = &cuda::checkCodec;

  // This function is declared in cuda_lowrank.h.
  decltype(&cuda::makeLowrankGroup) makeLowrankGroup = &cuda::makeLowrankGroup;

  // These functions are declared in cuda_memory.h.
  decltype(&cuda::memoryKindOf) memoryKindOf = &cuda::memoryKindOf;
  decltype(&cuda::copy) copy = &cuda::copy;
  decltype(&cuda::copyRows) copyRows = &cuda::copyRows;
  decltype(&cuda::clear) clear = &cuda::clear;
  decltype(&cuda::waitFor) waitFor = &cuda::waitFor;
  decltype(&cuda::makeStream) makeStream = &cuda::makeStream;
  decltype(&cuda::destroyStream) destroyStream = &cuda::destroyStream;
  decltype(&cuda::timeOn) timeOn = &cuda::timeOn;
  decltype(&cuda::replayGraph) replayGraph = &cuda::replayGraph;

  // These functions are declared in cuda_peers.h.
  decltype(&cuda::deviceCount) deviceCount = &cuda::deviceCount;
  decltype(&cuda::currentDevice) currentDevice = &cuda::currentDevice;
  decltype(&cuda::useDevice) useDevice = &cuda::useDevice;
  decltype(&cuda::useDeviceOf) useDeviceOf = &cuda::useDeviceOf;
  decltype(&cuda::enablePeer) enablePeer = &cuda::enablePeer;
  decltype(&cuda::poll) poll = &cuda::poll;
  decltype(&cuda::isCapturing) isCapturing = &cuda::isCapturing;
  decltype(&cuda::waitOn) waitOn = &cuda::waitOn;
  decltype(&cuda::allocateShared) allocateShared = &cuda::allocateShared;
  decltype(&cuda::handleOf) handleOf = &cuda::handleOf;

  // These are members of the types of cuda_memory.h and cuda_peers.h.
  decltype(&Memory::allocate) allocateMemory = &Memory::allocate;
  decltype(&Memory::release) releaseMemory = &Memory::release;
  decltype(&Event::make) makeEvent = &Event::make;
  decltype(&Event::makeShared) makeSharedEvent = &Event::makeShared;
  decltype(&Event::import) importEvent = &Event::import;
  decltype(&Event::handle) handleOfEvent = &Event::handle;
  decltype(&Event::record) recordEvent = &Event::record;
  decltype(&Event::poll) pollEvent = &Event::poll;
  decltype(&Event::release) releaseEvent = &Event::release;
  decltype(&ImportedMemory::open) openImported = &ImportedMemory::open;
  decltype(&ImportedMemory::release) releaseImported = &ImportedMemory::release;
};

constexpr const char *kCudaLibrarySymbol = "cgx_cuda_library";

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_LIBRARY_H
