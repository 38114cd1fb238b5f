//===-- Reference.h - Reference of an op ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_LSP_REFERENCE_H
#define CGX_TOOLS_LSP_REFERENCE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace cgx::lsp {

/// Returns the summary, description, example and constraints of an op of our dialects, in Markdown; empty for
/// other ops.
std::string getReference(llvm::StringRef op);

} // namespace cgx::lsp

#endif // CGX_TOOLS_LSP_REFERENCE_H
