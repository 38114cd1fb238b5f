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

/// Defines the options of transports with TCP. What is given is put into the environment, where the runtime
/// and the processes that this one forks find it (CGX_TCP_*, cgx/runtime.h).
void addTcpOptions(CLI::App &app);

/// Whether ranks meet over TCP.
inline bool meetsOverTcp(const std::string &transport) { return transport.ends_with("tcp"); }

/// Where ranks meet that one process starts on this host, unless the user has said where: a file of a name of
/// its own, with a secret that nobody has to think of. Rank 0 makes it and takes it away when all have come,
/// so that nothing is left of a process that is killed later on.
class OwnRendezvous {
public:
  /// Throws std::runtime_error where there is no place for it.
  OwnRendezvous();
  ~OwnRendezvous();
  OwnRendezvous(const OwnRendezvous &) = delete;
  OwnRendezvous &operator=(const OwnRendezvous &) = delete;

private:
  std::string path; ///< empty: the user has said where
};

} // namespace cgx::cli

#endif // CGX_CLI_TCPOPTIONS_H
