//===-- SourceDepth.h - how deep text is nested ---------*- C++ -*-===//
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

/// Brackets in brackets, attributes and types behind aliases included, that MLIR reads with the stack that
/// programs have: its parser, and passes over regions, call themselves at each. Exported steps nest a few
/// dozen deep.
inline constexpr unsigned kDeepestNesting = 1000;

/// Where MLIR's text nests deeper than that; minus signs in a row nest as well. Takes time in the length of
/// the text.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

} // namespace cgx

#endif // CGX_TOOLS_SOURCEDEPTH_H
