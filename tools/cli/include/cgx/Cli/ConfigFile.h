//===-- cgx/Cli/ConfigFile.h - Options of a run in a file -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file in TOML whose keys are the long names of options, without the dashes.
// What is on the command line as well holds there. CLI11 reads it; here is what
// it leaves out: tables that stand for one option, and where a mistake is.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_CONFIGFILE_H
#define CGX_CLI_CONFIGFILE_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cgx::cli {

/// Adds --config FILE and --print-config. The options in `tables` may be tables there, whose entries are the
/// words of the option's value: `[compress]` with `bits = 4` is --compress "bits=4", as Python's packages
/// read it.
void addConfigFile(CLI::App &app, std::vector<std::string> tables);

/// " (cgx.toml:3)" for a message about an option that the file gives and the command line does not; else
/// empty.
std::string placeInConfigFile(const CLI::App &app, const std::string &message, int argc,
                              const char *const *argv);

/// The options that were given, here or there, as such a file; and as comments what the others are by
/// default.
std::string writeConfigFile(const CLI::App &app);

} // namespace cgx::cli

#endif // CGX_CLI_CONFIGFILE_H
