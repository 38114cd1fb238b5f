//===-- CallerState.h - who feeds a step its state -------------------*- C++ -*-===//
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

/// On a module (a unit attribute): the step goes back to the framework that it is from, whose loop keeps the
/// state and passes it on. What feeds what then only helps to name layers: no state is lost where it is not
/// found.
inline constexpr llvm::StringLiteral kCallerKeepsStateAttrName = "cgx.caller_keeps_state";

} // namespace cgx

#endif // CGX_PASSES_CALLERSTATE_H
