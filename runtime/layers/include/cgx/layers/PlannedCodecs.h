//===-- PlannedCodecs.h - The codecs of a plan ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads the output of `cgx-plan` (runtime/plan/README.md): a codec for each layer, by name and kind.
#ifndef CGX_LAYERS_PLANNEDCODECS_H
#define CGX_LAYERS_PLANNEDCODECS_H

#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

#include <map>
#include <set>

namespace cgx::layers {

class PlannedCodecs {
public:
  /// Reads a plan. Returns nothing, after an error, if the file is no plan or names an unknown codec.
  static std::optional<PlannedCodecs> read(const std::string &path, Diagnostics &diagnostics);

  /// Returns false, after an error that lists every difference, unless the plan and the operands that may be
  /// compressed have the same layers.
  bool checkFits(const Table &table, Diagnostics &diagnostics) const;

  /// Returns true if the plan has codecs for the layers `name[0]`, `name[1]`, ... of a stack, and none for
  /// the stack.
  bool namesLayersOf(const Layer &stack) const;

  /// Returns the kinds of which the plan compresses a layer.
  std::set<Kind> compressedKinds() const;

  /// Returns the codec of a layer that `checkFits` has accepted.
  std::optional<Codec> find(const Layer &layer) const;

private:
  struct Entry {
    std::string dtype;
    int64_t elements;
    Codec codec;
  };
  /// The name and kind of a layer.
  using Key = std::pair<std::string, std::string>;

  static Key keyOf(const Layer &layer);

  std::string path;
  std::map<Key, Entry> entries;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_PLANNEDCODECS_H
