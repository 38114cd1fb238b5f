//===-- CommandLine.h - The program cgx-compile -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_COMMANDLINE_H
#define CGX_TOOLS_COMPILE_COMMANDLINE_H

/// Runs cgx-compile and returns its exit status. In a wheel this function is in the library that cgx-run
/// loads, so that LLVM is included once.
extern "C" int cgx_compile_main(int argc, char **argv);

#endif // CGX_TOOLS_COMPILE_COMMANDLINE_H
