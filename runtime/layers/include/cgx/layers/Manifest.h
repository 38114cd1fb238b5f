//===-- Manifest.h - The manifest of a program ------------------*- C++ -*-===//
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

/// The arguments and results of a step, as two JSON lists.
struct Signature {
  std::string arguments, results;
};

/// Returns the signature of a table whose collectives are called with one argument for each operand, in their
/// order.
Signature signatureOf(const Table &table);

/// Returns the manifest of a program, with collectives in the order of their ids. Its hash covers all of it:
/// ranks whose programs differ in any of this must not communicate.
std::string manifestOf(const Table &table, const std::optional<Signature> &signature);

} // namespace cgx::layers

#endif // CGX_LAYERS_MANIFEST_H
