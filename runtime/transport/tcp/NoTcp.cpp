//===-- transport/tcp/NoTcp.cpp - A build without TCP ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/Tcp.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectTcp(const TransportConfig &) {
  return Status(
      CGX_UNSUPPORTED,
      "this build of cgx has no transport tcp: install libasio-dev and libssl-dev and configure it again");
}

} // namespace cgx
