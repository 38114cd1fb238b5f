//===-- Transports.h - The option --transport -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_TRANSPORTS_H
#define CGX_CLI_TRANSPORTS_H

#include <CLI/CLI.hpp>

namespace cgx::cli {

/// Lets an option take the name of a transport of the runtime, and describes each in its help.
CLI::Option *takeTransport(CLI::Option *option);

} // namespace cgx::cli

#endif // CGX_CLI_TRANSPORTS_H
