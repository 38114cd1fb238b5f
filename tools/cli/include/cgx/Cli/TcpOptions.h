//===-- cgx/Cli/TcpOptions.h - Options of the transport tcp -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_TCPOPTIONS_H
#define CGX_CLI_TCPOPTIONS_H

#include <CLI/CLI.hpp>

#include <string>

namespace cgx::cli {

/// Defines the options of transports with TCP. Their values are put into the environment, where the runtime
/// and the processes that this one forks find them (CGX_TCP_*, cgx/runtime.h).
void addTcpOptions(CLI::App &app);

/// Returns true if ranks connect over TCP.
inline bool meetsOverTcp(const std::string &transport) { return transport.ends_with("tcp"); }

/// The rendezvous of ranks that one process starts on this host, unless the user has named one: a file with a
/// unique name and a generated secret. Rank 0 creates it and removes it when all ranks are connected, so that
/// a process that is killed later leaves nothing behind.
class OwnRendezvous {
public:
  /// Throws std::runtime_error where the file cannot be created.
  OwnRendezvous();
  ~OwnRendezvous();
  OwnRendezvous(const OwnRendezvous &) = delete;
  OwnRendezvous &operator=(const OwnRendezvous &) = delete;

private:
  std::string path; ///< empty: the user has named a rendezvous
};

} // namespace cgx::cli

#endif // CGX_CLI_TCPOPTIONS_H
