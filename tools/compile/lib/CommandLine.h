//===-- CommandLine.h - What the program cgx-compile does --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_COMMANDLINE_H
#define CGX_TOOLS_COMPILE_COMMANDLINE_H

/// The whole of cgx-compile, and its exit status. In a wheel it is in the library that cgx-run loads, so that
/// LLVM is there once.
extern "C" int cgx_compile_main(int argc, char **argv);

#endif // CGX_TOOLS_COMPILE_COMMANDLINE_H
