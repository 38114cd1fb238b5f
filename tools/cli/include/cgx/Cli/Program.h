//===-- cgx/Cli/Program.h - Start and end of all programs -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_PROGRAM_H
#define CGX_CLI_PROGRAM_H

#include <functional>

namespace cgx::cli {

/// Runs a program and returns its exit status, in any environment:
/// - A standard stream that was closed stays closed, but its number is reserved: otherwise the program would
///   print into the first file, shared memory or socket that it opens.
/// - If not everything that was printed could be written, as on a full disk, the program reports it and ends
///   with 1.
/// - Writing beyond the limit of a file's size (`ulimit -f`) is an error of that file and does not kill the
///   program.
int runProgram(const char *name, const std::function<int()> &body);

} // namespace cgx::cli

#endif // CGX_CLI_PROGRAM_H
