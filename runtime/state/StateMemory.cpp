//===-- state/StateMemory.cpp - Memory of codec state -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/StateMemory.h"

#include <sys/mman.h>

namespace cgx {

void Unmap::operator()(std::byte *begin) const { ::munmap(begin, bytes); }

} // namespace cgx
