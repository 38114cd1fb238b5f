//===-- cgx/Cli/Program.h - What all programs begin and end with -*- C++ -*-===//
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

/// What a program does, and the status that it ends with, whatever its surroundings are:
/// - A standard stream that was closed stays so, but its number is taken: what is printed would otherwise go
///   into the file, shared memory or socket that the program opens first.
/// - Where what was printed has not all been written, as on a disk that is full, the program says so and ends
///   with 1.
/// - A file that may not grow any more (`ulimit -f`) is an error of that file, not the end of the program.
int runProgram(const char *name, const std::function<int()> &body);

} // namespace cgx::cli

#endif // CGX_CLI_PROGRAM_H
