//===-- routed/ShmTcp.cpp - Shared memory, and TCP between hosts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/routed/ShmTcp.h"

#include "WithSharedMemory.h"
#include "transport/tcp/Tcp.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectShmTcp(const TransportConfig &config) {
  return withSharedMemory(connectTcp(config), config, "tcp");
}

} // namespace cgx
