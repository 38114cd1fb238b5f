//===-- cgx/Cli/CommandLine.h - What all command lines share ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_COMMANDLINE_H
#define CGX_CLI_COMMANDLINE_H

#include <CLI/CLI.hpp>

#include <map>
#include <optional>
#include <string>

namespace cgx::cli {

/// The type name of an option whose value is a list of another tool's options, which may be empty: --compress
/// "".
inline constexpr const char *kOptionsOfAnother = "OPTIONS";

/// What to write in place of an option that others have, by its name: {"--bits", "write --compress
/// \"bits=4\""}.
using Advices = std::map<std::string, std::string>;

/// Parses a command line, to which it adds --version. No option takes an empty value but those. If the
/// program is to end now, the status that it ends with: 0 after --help or --version, 2 after an error, which
/// is on standard error with the option or command that was likely meant.
std::optional<int> parse(CLI::App &app, int argc, const char *const *argv, const Advices &advices = {});

/// Refuses what is no finite number: a nan passes each of CLI11's ranges.
CLI::Validator finiteNumber();

} // namespace cgx::cli

#endif // CGX_CLI_COMMANDLINE_H
