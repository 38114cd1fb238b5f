//===-- FilterLayers.h - Operands that must stay uncompressed ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_FILTERLAYERS_H
#define CGX_LAYERS_FILTERLAYERS_H

#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

namespace cgx::layers {

struct FilterOptions {
  std::vector<std::string> kinds;   ///< kinds that may be compressed; empty: those of the plan, or gradients
  std::vector<std::string> exclude; ///< names that stay uncompressed, as globs
  std::string plan;                 ///< path of the plan
  int64_t minElements = 1024;       ///< smaller operands stay uncompressed
  int64_t minRank = 2;              ///< parameters of fewer dimensions stay uncompressed
};

/// Gives each operand its reason to stay uncompressed, or none. Returns false after an error.
bool filterLayers(Table &table, const FilterOptions &options, Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_FILTERLAYERS_H
