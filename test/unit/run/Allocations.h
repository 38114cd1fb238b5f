//===-- Allocations.h - Heap allocations of this program --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUN_ALLOCATIONS_H
#define CGX_TEST_UNIT_RUN_ALLOCATIONS_H

#include <cstdint>

namespace cgx::run {

/// Returns the bytes of all allocations so far, which measure work independently of the machine's load.
uint64_t allocatedBytes();

} // namespace cgx::run

#endif // CGX_TEST_UNIT_RUN_ALLOCATIONS_H
