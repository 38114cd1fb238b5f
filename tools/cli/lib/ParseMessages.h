//===-- ParseMessages.h - Errors of a command line --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_CLI_PARSEMESSAGES_H
#define CGX_TOOLS_CLI_PARSEMESSAGES_H

#include "CLI/CLI.hpp"

#include <string>

namespace cgx::cli {

/// Returns CLI11's error about a command line in a form that names what was expected and what was given. It
/// makes no suggestions.
std::string messageOf(const CLI::App &app, const CLI::ParseError &error, int argc, const char *const *argv);

/// Returns the commands that were typed, from the program itself on.
std::vector<const CLI::App *> typedCommands(const CLI::App &app);

/// Returns the first word of the form --name that is no option of a command that was typed, without a value;
/// empty where there is none.
std::string unknownOption(const CLI::App &app, int argc, const char *const *argv);

} // namespace cgx::cli

#endif // CGX_TOOLS_CLI_PARSEMESSAGES_H
