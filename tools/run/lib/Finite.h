//===-- Finite.h - Test for NaN and infinity --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_FINITE_H
#define CGX_RUN_LIB_FINITE_H

#include "cgx/run/Tensor.h"

namespace cgx::run {

/// Returns true if no element is a NaN or an infinity, which always holds for integers.
bool isFinite(ElementType type, std::span<const std::byte> bytes);

} // namespace cgx::run

#endif // CGX_RUN_LIB_FINITE_H
