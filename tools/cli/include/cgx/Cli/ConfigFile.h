//===-- cgx/Cli/ConfigFile.h - Options of a run in a file -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A TOML file whose keys are the long names of options, without the dashes. The command line
// takes precedence. CLI11 reads the file; this part adds what CLI11 lacks: tables that stand for
// one option, and the place of a mistake.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_CONFIGFILE_H
#define CGX_CLI_CONFIGFILE_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cgx::cli {

/// Adds --config FILE and --print-config. The options in `tables` may be tables in the file, whose entries
/// form the option's value: `[compress]` with `bits = 4` is --compress "bits=4", as in the Python packages.
void addConfigFile(CLI::App &app, std::vector<std::string> tables);

/// Returns " (cgx.toml:3)" for a message about an option that comes from the file and not from the command
/// line; otherwise an empty string.
std::string placeInConfigFile(const CLI::App &app, const std::string &message, int argc,
                              const char *const *argv);

/// Returns a file with the options that were given on the command line or in a file, and the defaults of the
/// others as comments.
std::string writeConfigFile(const CLI::App &app);

} // namespace cgx::cli

#endif // CGX_CLI_CONFIGFILE_H
