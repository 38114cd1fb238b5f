//===-- NoImplementations.cpp - A build without Highway -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Implementations.h"

namespace cgx {

std::span<const Implementation *const> simdImplementations() { return {}; }

} // namespace cgx
