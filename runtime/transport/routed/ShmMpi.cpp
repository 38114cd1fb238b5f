//===-- routed/ShmMpi.cpp - Shared memory, and MPI between hosts -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/routed/ShmMpi.h"

#include "WithSharedMemory.h"
#include "transport/mpi/Mpi.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectShmMpi(const TransportConfig &config) {
  return withSharedMemory(connectMpi(config), config, "mpi");
}

} // namespace cgx
