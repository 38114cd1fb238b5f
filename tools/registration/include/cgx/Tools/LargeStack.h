//===-- LargeStack.h - Work with deep recursion -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_LARGESTACK_H
#define CGX_TOOLS_LARGESTACK_H

#include <functional>

namespace cgx {

/// Runs `body` to its end on a thread with a stack of 256 MiB, of which only the used part costs memory.
/// MLIR's parser and passes are recursive over nested regions, and the stack of a program depends on who
/// starts it. If no such thread can be created (`ulimit -v`, `ulimit -u`), it runs on the present stack.
void runOnLargeStack(const std::function<void()> &body);

} // namespace cgx

#endif // CGX_TOOLS_LARGESTACK_H
