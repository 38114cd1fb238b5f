//===-- state/CarryOver.h - Moves codec state to another program -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_CARRYOVER_H
#define CGX_RUNTIME_STATE_CARRYOVER_H

#include "state/StateTensor.h"
#include "status/Status.h"

#include <span>

namespace cgx {

/// Copies the state of one program to that of another one with the same layers, which may be in other
/// collectives. Returns CGX_INVALID_ARGUMENT, and copies nothing, if state that is not zero has no place
/// there.
Status carryOver(std::span<const StateTensor> from, std::span<const StateTensor> to);

} // namespace cgx

#endif // CGX_RUNTIME_STATE_CARRYOVER_H
