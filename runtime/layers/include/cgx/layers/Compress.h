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

/// What is wrong with a codec that reads what an optimizer keeps of a parameter, where nobody knows of one.
std::string describeMissingState(std::string_view family);

/// What was decided.
struct Compressed {
  std::string manifest, report, reportJson;
};

/// What `cgx-opt --cgx-compress --cgx-report --cgx-emit-manifest` makes of a program that has the collectives
/// of a table and computes nothing. Nothing, after an error, where that refuses it.
std::optional<Compressed> compress(Table table, std::string_view options, Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_COMPRESS_H
