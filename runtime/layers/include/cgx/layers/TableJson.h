//===-- TableJson.h - Tables of layers as JSON ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_TABLEJSON_H
#define CGX_LAYERS_TABLEJSON_H

#include "cgx/layers/Compress.h"

namespace cgx::layers {

/// Reads a table, described in runtime/layers/README.md. Returns what is wrong, or "".
std::string readTable(std::string_view json, Table &table);

/// Returns diagnostics as JSON: [{"severity": "warning", "message": "..."}, ...], notes after the message
/// that they belong to.
std::string diagnosticsJson(const Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_TABLEJSON_H
