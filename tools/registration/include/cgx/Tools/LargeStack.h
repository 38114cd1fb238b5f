//===-- LargeStack.h - work that calls itself often ---------------*- C++ -*-===//
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

/// Runs `body` to its end on a thread with 256 MiB of stack, of which it takes what it uses: MLIR's parser
/// and passes call themselves at each region in a region, and the stack of a program is as large as whoever
/// starts it says. Where no such thread can be had (`ulimit -v`, `ulimit -u`) it runs on the stack that there
/// is.
void runOnLargeStack(const std::function<void()> &body);

} // namespace cgx

#endif // CGX_TOOLS_LARGESTACK_H
