//===-- nccl/NcclApi.h - Loads NCCL -----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NCCL is loaded when a job asks for it, so that everything else runs without it.
#ifndef CGX_RUNTIME_TRANSPORT_NCCL_NCCLAPI_H
#define CGX_RUNTIME_TRANSPORT_NCCL_NCCLAPI_H

#include "status/Status.h"

#include <nccl.h>

namespace cgx {

struct NcclApi {
  decltype(&ncclGetUniqueId) getUniqueId = nullptr;
  decltype(&ncclCommInitRankConfig) commInitRankConfig = nullptr;
  decltype(&ncclCommSplit) commSplit = nullptr;
  decltype(&ncclCommDestroy) commDestroy = nullptr;
  decltype(&ncclCommAbort) commAbort = nullptr;
  decltype(&ncclCommGetAsyncError) commGetAsyncError = nullptr;
  decltype(&ncclGroupStart) groupStart = nullptr;
  decltype(&ncclGroupEnd) groupEnd = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclAllReduce) allReduce = nullptr;
  decltype(&ncclAllGather) allGather = nullptr;
  decltype(&ncclReduceScatter) reduceScatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclGetErrorString) getErrorString = nullptr;
  decltype(&ncclGetLastError) getLastError = nullptr;
};

/// Returns the NCCL of this machine, loaded once; CGX_UNSUPPORTED if there is none.
Result<const NcclApi *> loadNccl();

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_NCCL_NCCLAPI_H
