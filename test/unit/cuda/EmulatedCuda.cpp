//===-- EmulatedCuda.cpp - A GPU emulated on the CPU ----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the functions of cuda.h, cuda_lowrank.h and cuda_memory.h on the CPU. They take the place of
// those of the library (EmulatedLibrary.cpp), so that their callers run as they would with a GPU. Work is
// done also while a stream captures a graph, and a replay runs it again.

#include "DecodeGroup.h"
#include "EmulatedStreams.h"
#include "LowrankGroup.h"
#include "ReduceGroup.h"

#include "cgx/kernels/cuda_peers.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cgx::cuda {
namespace {

struct Block {
  uint64_t bytes;
  MemoryKind kind;
  int file = -1; ///< the file that backs it, if other processes may see it
};
std::mutex mutex;
std::map<uintptr_t, Block> blocks; ///< by address
thread_local bool capturing = false;
thread_local int sharedFile = -1;  ///< the file of the next block
std::map<void *, size_t> imported; ///< sizes by address

/// Returns whether this process sees devices. As with CUDA, a child of a process that has used CUDA sees
/// none.
bool seesDevices() {
  static const pid_t firstUser = getpid();
  return getpid() == firstUser;
}

} // namespace

Outcome availability() {
  return {seesDevices() ? "" : "no CUDA device: a parent of this process has used CUDA"};
}

std::unique_ptr<Group> makeEncodeGroup(std::span<const EncodeLayer> layers, Outcome &outcome) {
  return makeEncodeGroupOn<StreamBackend>(layers, outcome);
}
std::unique_ptr<Group> makeOwnerGroup(std::span<const OwnerLayer> layers, Outcome &outcome) {
  return makeOwnerGroupOn<StreamBackend>(layers, outcome);
}
std::unique_ptr<Group> makeReduceGroup(std::span<const ReduceLayer> layers, Outcome &outcome) {
  return makeReduceGroupOn<StreamBackend>(layers, outcome);
}
std::unique_ptr<Group> makeDecodeGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  return makeDecodeGroupOn<Sink::store, StreamBackend>(layers, outcome);
}
std::unique_ptr<Group> makeAccumulateGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  return makeDecodeGroupOn<Sink::add, StreamBackend>(layers, outcome);
}
std::unique_ptr<LowrankGroup> makeLowrankGroup(std::span<const LowrankLayer> layers, Outcome &outcome) {
  return makeLowrankGroupOn<StreamBackend>(layers, outcome);
}

MemoryKind memoryKindOf(const void *pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(mutex);
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return MemoryKind::host;
  --next;
  return address < next->first + next->second.bytes ? next->second.kind : MemoryKind::host;
}

Outcome Memory::allocate(MemoryKind ofKind, uint64_t bytes) {
  if (capturing)
    return {"CUDA: memory is allocated while a graph is captured"};
  if (Outcome outcome = availability(); !outcome.ok())
    return outcome;
  Memory before = std::move(*this);
  if (sharedFile < 0)
    address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  else if (ftruncate(sharedFile, off_t(bytes)) == 0)
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sharedFile, 0);
  kind = ofKind;
  size = bytes;
  const std::lock_guard lock(mutex);
  blocks[reinterpret_cast<uintptr_t>(address)] = {bytes, ofKind, sharedFile};
  return {};
}

void Memory::release() {
  waitForAllStreams();
  const std::lock_guard lock(mutex);
  const Block block = blocks.extract(reinterpret_cast<uintptr_t>(address)).mapped();
  if (block.file < 0) {
    std::free(address);
  } else {
    munmap(address, block.bytes);
    close(block.file);
  }
}

/// As with CUDA, memory that is not pinned has been read or written when the call returns.
Outcome copy(void *to, const void *from, uint64_t bytes, Stream stream) {
  if (bytes == 0)
    return {};
  if (memoryKindOf(to) == MemoryKind::host) {
    waitForWork(stream);
    std::memcpy(to, from, bytes);
  } else if (memoryKindOf(from) == MemoryKind::host) {
    const auto *begin = static_cast<const std::byte *>(from);
    putOn(stream, [to, staged = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    });
  } else {
    putOn(stream, [=] { std::memcpy(to, from, bytes); });
  }
  return {};
}
Outcome copyRows(const RowCopy &rows, Stream stream) {
  putOn(stream, [rows] {
    for (uint64_t row = 0; row < rows.rows && rows.width != 0; ++row)
      std::memcpy(static_cast<char *>(rows.to) + row * rows.toPitch,
                  static_cast<const char *>(rows.from) + row * rows.fromPitch, rows.width);
  });
  return {};
}
Outcome clear(void *memory, uint64_t bytes, Stream stream) {
  putOn(stream, [=] { std::memset(memory, 0, bytes); });
  return {};
}
Outcome waitFor(Stream stream) {
  if (capturing)
    return {"CUDA: a stream is waited for while a graph is captured"};
  waitForWork(stream);
  return {};
}
Outcome advanceStep(Stream stream, StepState *state) {
  putOn(stream, [state] { ++state->step; });
  return {};
}
Outcome timeOn(Stream stream, const std::function<Outcome()> &put, double &seconds) {
  waitForWork(stream);
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome = put();
  waitForWork(stream);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}
Outcome replayGraph(Stream, uint32_t times, const std::function<Outcome()> &put) {
  capturing = true;
  Outcome outcome;
  for (uint32_t time = 0; time < times && outcome.ok(); ++time)
    outcome = put();
  capturing = false;
  return outcome;
}

uint32_t deviceCount() { return seesDevices() ? 8 : 0; }
Outcome currentDevice(int &current) {
  current = emulatedDevice;
  return {};
}
Outcome useDevice(int used) {
  emulatedDevice = used;
  return {};
}
Outcome useDeviceOf(uint32_t rankOnHost) { return useDevice(int(rankOnHost % deviceCount())); }
Outcome poll(Stream stream, bool &done) {
  done = isIdle(stream);
  return capturing ? waitFor(stream) : Outcome{};
}
bool isCapturing(Stream) { return capturing; }

Outcome Event::makeShared() { return make(); }
// Streams of another process have already done their work: see EmulatedStreams.h.
Outcome Event::import(const IpcHandle &) { return makeShared(); }
Outcome Event::handle(IpcHandle &) const { return {}; }
Outcome enablePeer(int) { return {}; }

Outcome allocateShared(Memory &memory, uint64_t bytes) {
  sharedFile = memfd_create("emulated-gpu", 0);
  Outcome outcome = memory.allocate(MemoryKind::device, bytes);
  sharedFile = -1;
  return outcome;
}

/// Returns the name by which other processes open memory that a file backs.
Outcome handleOf(const Memory &memory, IpcHandle &handle) {
  const std::lock_guard lock(mutex);
  const std::string name = "/proc/" + std::to_string(getpid()) + "/fd/" +
                           std::to_string(blocks.at(reinterpret_cast<uintptr_t>(memory.get())).file);
  handle = {};
  std::memcpy(handle.data(), name.data(), name.size());
  return {};
}

void ImportedMemory::release() {
  const std::lock_guard lock(mutex);
  munmap(address, imported.at(address));
}

Outcome ImportedMemory::open(const IpcHandle &handle) {
  *this = ImportedMemory();
  const int file = ::open(reinterpret_cast<const char *>(handle.data()), O_RDWR);
  struct stat info{};
  if (file < 0 || fstat(file, &info) != 0)
    return {"cannot open the memory of another process"};
  address = mmap(nullptr, size_t(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  const std::lock_guard lock(mutex);
  imported[address] = size_t(info.st_size);
  return {};
}

} // namespace cgx::cuda
