//===-- Proxy.h - Proxy between an editor and MLIR's server -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_LSP_PROXY_H
#define CGX_TOOLS_LSP_PROXY_H

#include "mlir/IR/DialectRegistry.h"

#include <functional>

namespace cgx::lsp {

/// Runs `server`, which speaks the protocol on standard input and output, in a process of its own, and
/// forwards the messages between it and the editor. It adds to answers about hover and completion what the
/// server cannot know, and forwards everything else unchanged. Returns the exit status of the server.
int runBehindProxy(const mlir::DialectRegistry &registry, const std::function<int()> &server);

} // namespace cgx::lsp

#endif // CGX_TOOLS_LSP_PROXY_H
