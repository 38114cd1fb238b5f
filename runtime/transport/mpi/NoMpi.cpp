//===-- transport/mpi/NoMpi.cpp - A build without MPI ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/Mpi.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectMpi(const TransportConfig &) {
  return Status(CGX_UNSUPPORTED,
                "this build of cgx has no MPI: install libopenmpi-dev and configure it again");
}

} // namespace cgx
