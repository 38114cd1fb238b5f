//===-- cgx/plan/Error.h - Errors of plans and profiles ---------*- C++ -*-===//
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

/// The exception for invalid files and problems; its message is for users.
using formats::Error;

} // namespace cgx::plan

#endif // CGX_PLAN_ERROR_H
