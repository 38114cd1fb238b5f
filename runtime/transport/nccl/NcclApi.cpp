//===-- nccl/NcclApi.cpp - Loads NCCL ---------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclApi.h"

#include <dlfcn.h>

namespace cgx {

static constexpr const char *kLibrary = "libnccl.so.2";

/// Fills the table with the functions that the library has.
class NcclLoader {
public:
  explicit NcclLoader(void *library) : library(library) {}

  template <typename Function> void find(Function &slot, const char *name) {
    slot = reinterpret_cast<Function>(dlsym(library, name));
    if (!slot && missing.empty())
      missing = name;
  }

  Status finish() const {
    return missing.empty() ? Status()
                           : Status::error(CGX_UNSUPPORTED, kLibrary, " has no ", missing, ": expected NCCL ",
                                           NCCL_MAJOR, ".", NCCL_MINOR, " or later");
  }

private:
  void *library;
  std::string missing;
};

static Status fill(NcclApi &api) {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::error(CGX_UNSUPPORTED, "cannot load NCCL: ", dlerror());
  NcclLoader loader(library);
  loader.find(api.getUniqueId, "ncclGetUniqueId");
  loader.find(api.commInitRankConfig, "ncclCommInitRankConfig");
  loader.find(api.commSplit, "ncclCommSplit");
  loader.find(api.commDestroy, "ncclCommDestroy");
  loader.find(api.commAbort, "ncclCommAbort");
  loader.find(api.commGetAsyncError, "ncclCommGetAsyncError");
  loader.find(api.groupStart, "ncclGroupStart");
  loader.find(api.groupEnd, "ncclGroupEnd");
  loader.find(api.send, "ncclSend");
  loader.find(api.recv, "ncclRecv");
  loader.find(api.allReduce, "ncclAllReduce");
  loader.find(api.allGather, "ncclAllGather");
  loader.find(api.reduceScatter, "ncclReduceScatter");
  loader.find(api.broadcast, "ncclBroadcast");
  loader.find(api.getErrorString, "ncclGetErrorString");
  loader.find(api.getLastError, "ncclGetLastError");
  return loader.finish();
}

Result<const NcclApi *> loadNccl() {
  static NcclApi api;
  static const Status status = fill(api);
  if (!status.ok())
    return status;
  return static_cast<const NcclApi *>(&api);
}

} // namespace cgx
