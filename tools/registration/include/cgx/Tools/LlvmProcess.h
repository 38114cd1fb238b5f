//===-- LlvmProcess.h - LLVM as part of a program ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_LLVMPROCESS_H
#define CGX_TOOLS_LLVMPROCESS_H

namespace cgx {

/// Before llvm::InitLLVM: a crash ends the process within ten seconds, whatever LLVM still wants to print.
/// Its stack printer allocates memory, and waits for ever where malloc itself found the memory damaged.
void expectCrashes();

/// For the process of `tool`, a literal, what LLVM leaves to it:
/// - Where no thread can be started, or standard output takes no more, an error that says why, and exit
///   status 1. LLVM aborts, with a stack and a plea to report a bug. Its other fatal errors do what they did.
/// - A crash is to be reported to us, and not to LLVM.
/// - No colours where NO_COLOR says so (https://no-color.org).
void prepareLlvmProcess(const char *tool);

} // namespace cgx

#endif // CGX_TOOLS_LLVMPROCESS_H
