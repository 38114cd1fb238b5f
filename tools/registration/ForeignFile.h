//===-- ForeignFile.h - Kinds of files that are no modules ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_FOREIGNFILE_H
#define CGX_TOOLS_FOREIGNFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace cgx {

/// Returns the kind of a file by its first bytes, such as "a safetensors file"; nothing for bytes that may be
/// a module.
std::optional<std::string> nameForeignFile(llvm::StringRef bytes);

} // namespace cgx

#endif // CGX_TOOLS_FOREIGNFILE_H
