//===-- FakeNccl.cpp - NCCL between threads, on the CPU -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is a libnccl.so.2 for ranks that are threads of a process whose GPU is emulated; LD_LIBRARY_PATH makes
// the loader find it first. Communicators never block: an operation ends when all ranks that it needs have
// called it, and commGetAsyncError checks that. Sums are added in the order of ranks.

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using Bytes = std::vector<uint8_t>;

/// The state that the ranks of one communicator share.
struct World {
  int joined = 0;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;         ///< by sender and receiver
  std::map<uint64_t, std::map<int, Bytes>> contributions;        ///< by collective, then by rank
  std::map<uint64_t, std::map<int, std::pair<int, int>>> splits; ///< color and key
  std::map<std::pair<uint64_t, int>, std::shared_ptr<World>> children;
};

std::mutex mutex;
std::map<uint64_t, std::shared_ptr<World>> worlds; ///< by unique id
std::atomic<uint64_t> nextId{1};
std::atomic<int> failingRank{-1};
std::atomic<bool> abortsHang{false};

} // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0, ranks = 0;
  uint64_t collectives = 0, splits = 0;
  std::deque<std::function<bool()>> pending; ///< each returns whether it is done
};

namespace {

struct Call {
  ncclComm_t communicator;
  std::function<void()> begin; ///< called under the lock
  std::function<bool()> end;
};
thread_local int depth = 0;
thread_local std::vector<Call> calls;

size_t sizeOf(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt64:
  case ncclUint64:
  case ncclFloat64:
    return 8;
  default:
    return 4;
  }
}

ncclResult_t flush() {
  const std::lock_guard lock(mutex);
  for (Call &call : calls) {
    call.begin();
    call.communicator->pending.push_back(std::move(call.end));
  }
  calls.clear();
  return ncclInProgress;
}

ncclResult_t put(Call call) {
  calls.push_back(std::move(call));
  return depth > 0 ? ncclSuccess : flush();
}

template <typename T>
void reduceAs(const std::map<int, Bytes> &inputs, size_t first, size_t count, ncclRedOp_t operation,
              void *output) {
  std::vector<T> sum(count);
  for (const auto &[rank, bytes] : inputs)
    for (size_t i = 0; i < count; ++i) {
      T x;
      std::memcpy(&x, bytes.data() + (first + i) * sizeof(T), sizeof(T));
      const bool isFirst = rank == inputs.begin()->first;
      if (isFirst)
        sum[i] = x;
      else if (operation == ncclMax)
        sum[i] = std::max(sum[i], x);
      else if (operation == ncclMin)
        sum[i] = std::min(sum[i], x);
      else if (operation == ncclProd)
        sum[i] = sum[i] * x;
      else
        sum[i] = sum[i] + x;
    }
  if (operation == ncclAvg)
    for (T &x : sum)
      x = x / T(inputs.size());
  std::memcpy(output, sum.data(), count * sizeof(T));
}

/// Starts a collective to which all ranks contribute `sent` bytes. `finish` computes this rank's result from
/// them.
ncclResult_t collect(ncclComm_t communicator, const void *input, size_t sent,
                     std::function<void(const std::map<int, Bytes> &)> finish) {
  const uint64_t number = communicator->collectives++;
  auto began = [=] {
    const auto *bytes = static_cast<const uint8_t *>(input);
    communicator->world->contributions[number][communicator->rank] = Bytes(bytes, bytes + sent);
  };
  auto ended = [=] {
    const std::map<int, Bytes> &all = communicator->world->contributions[number];
    if (int(all.size()) < communicator->ranks)
      return false;
    finish(all);
    return true;
  };
  return put({communicator, began, ended});
}

ncclResult_t reduce(ncclComm_t communicator, const void *input, void *output, size_t whole, size_t first,
                    size_t count, ncclDataType_t type, ncclRedOp_t operation) {
  if (type != ncclFloat32 && type != ncclInt32)
    return ncclInvalidArgument;
  return collect(communicator, input, whole * sizeOf(type), [=](const std::map<int, Bytes> &all) {
    if (type == ncclFloat32)
      reduceAs<float>(all, first, count, operation, output);
    else
      reduceAs<int32_t>(all, first, count, operation, output);
  });
}

} // namespace

extern "C" {

/// Breaks the communicators of a rank from now on; -1 for none. Only tests call it.
void fakeNcclFail(int rank) { failingRank = rank; }
void fakeNcclHangAborts(bool hang) { abortsHang = hang; }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  const uint64_t number = nextId++;
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id, &number, sizeof(number));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *made, int ranks, ncclUniqueId id, int rank, ncclConfig_t *) {
  uint64_t number = 0;
  std::memcpy(&number, &id, sizeof(number));
  const std::lock_guard lock(mutex);
  std::shared_ptr<World> &world = worlds[number];
  if (!world)
    world = std::make_shared<World>();
  ++world->joined;
  *made = new ncclComm{.world = world, .rank = rank, .ranks = ranks};
  (*made)->pending.push_back([world = world, ranks] { return world->joined == ranks; });
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key, ncclComm_t *made, ncclConfig_t *) {
  const std::lock_guard lock(mutex);
  const uint64_t number = parent->splits++;
  parent->world->splits[number][parent->rank] = {color, key};
  // As with NCCL, the new communicator exists when the split is done.
  parent->pending.push_back([=] {
    const auto &all = parent->world->splits[number];
    if (int(all.size()) < parent->ranks)
      return false;
    if (color == NCCL_SPLIT_NOCOLOR)
      return true;
    std::shared_ptr<World> &world = parent->world->children[{number, color}];
    if (!world)
      world = std::make_shared<World>();
    int rank = 0, ranks = 0;
    for (const auto &[other, place] : all)
      if (place.first == color) {
        ++ranks;
        rank += place.second < key;
      }
    *made = new ncclComm{.world = world, .rank = rank, .ranks = ranks};
    return true;
  });
  return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  while (abortsHang) // as NCCL does for graphs that hold the communicator
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return ncclCommDestroy(communicator);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t *state) {
  const std::lock_guard lock(mutex);
  while (!communicator->pending.empty() && communicator->pending.front()())
    communicator->pending.pop_front();
  *state = communicator->rank == failingRank ? ncclSystemError
           : communicator->pending.empty()   ? ncclSuccess
                                             : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() { return --depth > 0 ? ncclSuccess : flush(); }

ncclResult_t ncclSend(const void *memory, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t) {
  auto began = [=] {
    const auto *bytes = static_cast<const uint8_t *>(memory);
    communicator->world->mail[{communicator->rank, peer}].emplace_back(bytes, bytes + count * sizeOf(type));
  };
  return put({communicator, began, [] { return true; }});
}

ncclResult_t ncclRecv(void *memory, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t) {
  auto ended = [=] {
    std::deque<Bytes> &mail = communicator->world->mail[{peer, communicator->rank}];
    if (mail.empty())
      return false;
    if (mail.front().size() != count * sizeOf(type))
      std::abort(); // NCCL would hang, or write where it should not
    std::memcpy(memory, mail.front().data(), mail.front().size());
    mail.pop_front();
    return true;
  };
  return put({communicator, [] {}, ended});
}

ncclResult_t ncclAllReduce(const void *input, void *output, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t) {
  return reduce(communicator, input, output, count, 0, count, type, operation);
}

ncclResult_t ncclReduceScatter(const void *input, void *output, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t) {
  return reduce(communicator, input, output, count * size_t(communicator->ranks),
                count * size_t(communicator->rank), count, type, operation);
}

ncclResult_t ncclAllGather(const void *input, void *output, size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t) {
  return collect(communicator, input, count * sizeOf(type), [output](const std::map<int, Bytes> &all) {
    auto *next = static_cast<uint8_t *>(output);
    for (const auto &[rank, bytes] : all)
      next = std::copy(bytes.begin(), bytes.end(), next);
  });
}

ncclResult_t ncclBroadcast(const void *input, void *output, size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t) {
  return collect(communicator, input, count * sizeOf(type), [=](const std::map<int, Bytes> &all) {
    std::memcpy(output, all.at(root).data(), count * sizeOf(type));
  });
}

const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "unhandled system error" : "an error";
}
const char *ncclGetLastError(ncclComm_t) { return "the fake was told to fail"; }

} // extern "C"
