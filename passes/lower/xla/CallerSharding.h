//===-- CallerSharding.h - the caller's shardings of a step's arguments -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_LOWER_XLA_CALLERSHARDING_H
#define CGX_PASSES_LOWER_XLA_CALLERSHARDING_H

#include "llvm/ADT/StringRef.h"

namespace cgx {

/// An attribute of arguments and results of a per-rank @main: the sharding that the exported step had there,
/// if it had one, with its mesh written out (`#sdy.sharding`), or as GSPMD's text. `cgx.sharding` has the
/// part that a rank holds: the two differ where a step itself splits an argument that it takes whole.
inline constexpr llvm::StringLiteral kCallerShardingAttrName = "cgx.caller_sharding";

} // namespace cgx

#endif // CGX_PASSES_LOWER_XLA_CALLERSHARDING_H
