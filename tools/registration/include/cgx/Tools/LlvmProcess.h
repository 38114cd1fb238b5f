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

/// Lets a crash end the process within ten seconds, whatever LLVM still has to print. Call it before
/// llvm::InitLLVM. LLVM's stack printer allocates memory, and waits for ever if the crash was in malloc.
void expectCrashes();

/// Prepares the process of `tool`, a string literal, where LLVM's defaults do not fit:
/// - If no thread can be started, or standard output cannot be written, it ends with an error that says why,
///   and exit status 1. LLVM would abort, with a stack and a request to report a bug. Its other fatal errors
///   are unchanged.
/// - A crash asks for a report to cgx, and not to LLVM.
/// - Output has no colors if NO_COLOR is set (https://no-color.org).
void prepareLlvmProcess(const char *tool);

} // namespace cgx

#endif // CGX_TOOLS_LLVMPROCESS_H
