//===-- SourceDepth.h - Nesting depth of text -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_SOURCEDEPTH_H
#define CGX_TOOLS_SOURCEDEPTH_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace cgx {

/// The deepest nesting of brackets, through attributes and types behind aliases, that MLIR reads with the
/// usual stack: its parser, and passes over regions, are recursive. Exported steps nest a few dozen deep.
inline constexpr unsigned kDeepestNesting = 1000;

/// Returns the position where MLIR text nests deeper than that. Consecutive minus signs nest as well. The
/// time is linear in the length of the text.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

} // namespace cgx

#endif // CGX_TOOLS_SOURCEDEPTH_H
