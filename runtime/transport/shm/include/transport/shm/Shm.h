//===-- transport/shm/Shm.h - Ranks as processes of one host --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_SHM_SHM_H
#define CGX_RUNTIME_TRANSPORT_SHM_SHM_H

#include "transport/Transport.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectShm(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_SHM_SHM_H
