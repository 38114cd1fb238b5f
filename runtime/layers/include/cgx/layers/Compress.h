//===-- Compress.h - All decisions about a table ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_COMPRESS_H
#define CGX_LAYERS_COMPRESS_H

#include "cgx/layers/Options.h"
#include "cgx/layers/Report.h"

namespace cgx::layers {

/// Returns the error for a codec that reads optimizer tensors of a parameter for which none are known.
std::string describeMissingState(std::string_view family);

/// The results of compress().
struct Compressed {
  std::string manifest, report, reportJson;
};

/// Returns what `cgx-opt --cgx-compress --cgx-report --cgx-emit-manifest` would output for a program that has
/// the collectives of a table and computes nothing. Returns nothing, after an error, if that program would be
/// rejected.
std::optional<Compressed> compress(Table table, std::string_view options, Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_COMPRESS_H
