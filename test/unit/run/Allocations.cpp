//===-- Allocations.cpp - Heap allocations of this program ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<uint64_t> allocated;

uint64_t cgx::run::allocatedBytes() { return allocated; }

void *operator new(size_t bytes) {
  allocated += bytes;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
