//===-- transport/inproc/Inproc.h - Ranks as threads -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_INPROC_INPROC_H
#define CGX_RUNTIME_TRANSPORT_INPROC_INPROC_H

#include "transport/Transport.h"

namespace cgx {

Result<std::unique_ptr<Transport>> connectInproc(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_INPROC_INPROC_H
