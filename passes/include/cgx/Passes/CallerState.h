//===-- CallerState.h - steps whose state the caller keeps -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_CALLERSTATE_H
#define CGX_PASSES_CALLERSTATE_H

#include "llvm/ADT/StringRef.h"

namespace cgx {

/// An attribute of a module (a unit attribute): the step returns to its framework, whose loop keeps the state
/// and passes it on. Feeds then only help to name layers: no state is lost where they are not found.
inline constexpr llvm::StringLiteral kCallerKeepsStateAttrName = "cgx.caller_keeps_state";

} // namespace cgx

#endif // CGX_PASSES_CALLERSTATE_H
