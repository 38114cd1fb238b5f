//===-- implementation.h - The implementations of the codecs ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every implementation gives the same bits. `reference` is cgx/arithmetic in a plain
// loop and runs anywhere; the others are named after their instruction set.
#ifndef CGX_KERNELS_IMPLEMENTATION_H
#define CGX_KERNELS_IMPLEMENTATION_H

#include <span>
#include <string_view>

namespace cgx {

struct BodyKernels;

struct Implementation {
  const char *name;        ///< such as "avx2"
  const char *description; ///< one line for a person
  bool (*isSupported)();   ///< whether this machine can run it
  /// The kernels by family; null where the family's reference runs.
  const BodyKernels *const *families;
};

/// Returns all implementations of this build, the best first, `reference` last.
std::span<const Implementation *const> implementations();

/// Returns the best implementation that this machine supports.
const Implementation &defaultImplementation();

/// Returns the implementation of that name, or null.
const Implementation *findImplementation(std::string_view name);

} // namespace cgx

#endif // CGX_KERNELS_IMPLEMENTATION_H
