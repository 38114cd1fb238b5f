//===-- TransportKinds.h - The transports by name ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_KINDS_TRANSPORTKINDS_H
#define CGX_RUNTIME_TRANSPORT_KINDS_TRANSPORTKINDS_H

#include "transport/Transport.h"

namespace cgx {

/// A kind of transport that a user may choose.
struct TransportKind {
  const char *name;
  const char *description;
  Result<std::unique_ptr<Transport>> (*connect)(const TransportConfig &);
};

/// Returns all kinds that this build has.
std::span<const TransportKind> transportKinds();

/// Joins the job over the named transport and waits for the other ranks.
Result<std::unique_ptr<Transport>> connectTransport(const std::string &name, const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_KINDS_TRANSPORTKINDS_H
