//===-- cgx/Cli/CommandLine.h - Parts common to all command lines -*- C++ -*-===//
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

/// The type name of an option whose value is a list of another tool's options. The list may be empty:
/// --compress "".
inline constexpr const char *kOptionsOfAnother = "OPTIONS";

/// Replacements for options that other tools have, by name: {"--bits", "write --compress \"bits=4\""}.
using Advices = std::map<std::string, std::string>;

/// Parses a command line, to which it adds --version. Only options of the type above take an empty value.
/// Returns the exit status if the program is to end now: 0 after --help or --version, 2 after an error. The
/// error is printed to standard error, with the option or command that was likely meant.
std::optional<int> parse(CLI::App &app, int argc, const char *const *argv, const Advices &advices = {});

/// Rejects a number that is not finite, because a NaN passes each of CLI11's ranges.
CLI::Validator finiteNumber();

} // namespace cgx::cli

#endif // CGX_CLI_COMMANDLINE_H
