//===-- ChooseAlgorithms.h - Which messages an all-reduce is made of --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_CHOOSEALGORITHMS_H
#define CGX_LAYERS_CHOOSEALGORITHMS_H

#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

namespace cgx::layers {

struct AlgorithmOptions {
  std::string algorithm = "auto";
  std::string machine;             ///< path of its file: auto becomes the fastest
  int64_t local = 0;               ///< hierarchical: consecutive ranks of a group that are one host
  std::string inside = "identity"; ///< hierarchical: codec between ranks of a host
  std::string leaders = "all";     ///< hierarchical: which ranks of a host talk to other hosts
};

/// Gives all-reduces without an algorithm theirs; those that would be slower with codecs stay exact. Of a
/// collective that cannot go that way `refuse` is told why not. False after an error.
bool chooseAlgorithms(Table &table, const AlgorithmOptions &options,
                      const std::function<void(const Collective &, const std::string &)> &refuse,
                      Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_CHOOSEALGORITHMS_H
