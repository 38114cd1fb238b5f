//===-- ProgramHash.h - The hash of a program -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_PROGRAMHASH_H
#define CGX_LAYERS_PROGRAMHASH_H

#include <string>
#include <string_view>

namespace cgx::layers {

/// Returns 16 hexadecimal digits for a text of more than 16 bytes: XXH3 of 64 bits, without a seed.
/// Checkpoints and plans contain it to identify the program that made them.
std::string programHash(std::string_view text);

} // namespace cgx::layers

#endif // CGX_LAYERS_PROGRAMHASH_H
