//===-- Manifest.h - What a program communicates, in words ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_MANIFEST_H
#define CGX_LAYERS_MANIFEST_H

#include "cgx/layers/Table.h"

namespace cgx::layers {

/// What a step takes and returns, as JSON: two lists.
struct Signature {
  std::string arguments, results;
};

/// Of a table whose collectives are called with one argument for each operand, in their order.
Signature signatureOf(const Table &table);

/// The manifest of a program; collectives stand in the order of their ids. Its hash is of all of it: ranks
/// whose programs differ in any of this must not talk to each other.
std::string manifestOf(const Table &table, const std::optional<Signature> &signature);

} // namespace cgx::layers

#endif // CGX_LAYERS_MANIFEST_H
