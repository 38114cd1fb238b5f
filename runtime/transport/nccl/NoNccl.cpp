//===-- transport/nccl/NoNccl.cpp - A build without NCCL --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/nccl/Nccl.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectNccl(const TransportConfig &) {
  return Status(CGX_UNSUPPORTED, "this build of cgx has no NCCL: install CUDA and NCCL (nvcc, nccl.h) and "
                                 "configure it again");
}

Result<std::unique_ptr<Transport>> connectNcclMpi(const TransportConfig &config) {
  return connectNccl(config);
}

Result<std::unique_ptr<Transport>> connectNcclTcp(const TransportConfig &config) {
  return connectNccl(config);
}

} // namespace cgx
