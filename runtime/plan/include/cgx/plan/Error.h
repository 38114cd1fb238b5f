//===-- cgx/plan/Error.h - What went wrong -*- C++ -*--===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_ERROR_H
#define CGX_PLAN_ERROR_H

#include "cgx/formats/Error.h"

namespace cgx::plan {

/// Thrown for files and problems that make no sense; the message is for users.
using formats::Error;

} // namespace cgx::plan

#endif // CGX_PLAN_ERROR_H
