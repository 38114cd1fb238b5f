//===-- ChooseAlgorithms.h - Algorithms of all-reduces ----------*- C++ -*-===//
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
  std::string machine;             ///< path of the machine's file, with which auto becomes the fastest
  int64_t local = 0;               ///< hierarchical: number of consecutive ranks of a group on one host
  std::string inside = "identity"; ///< hierarchical: codec between ranks of a host
  std::string leaders = "all";     ///< hierarchical: which ranks of a host talk to other hosts
};

/// Gives all-reduces without an algorithm one; those that would be slower with codecs stay uncompressed.
/// `reject` gets each collective that cannot use the given algorithm, and why. Returns false after an error.
bool chooseAlgorithms(Table &table, const AlgorithmOptions &options,
                      const std::function<void(const Collective &, const std::string &)> &reject,
                      Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_CHOOSEALGORITHMS_H
