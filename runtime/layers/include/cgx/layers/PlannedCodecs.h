//===-- PlannedCodecs.h - The codecs of a plan ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads what `cgx-plan` wrote (runtime/plan/README.md): a codec for each layer, by name and kind.
#ifndef CGX_LAYERS_PLANNEDCODECS_H
#define CGX_LAYERS_PLANNEDCODECS_H

#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

#include <map>
#include <set>

namespace cgx::layers {

class PlannedCodecs {
public:
  /// Nothing, after an error, where the file is no plan or names a codec that there is not.
  static std::optional<PlannedCodecs> read(const std::string &path, Diagnostics &diagnostics);

  /// False, after an error with every difference, unless the plan and the operands that may be compressed are
  /// of the same layers.
  bool checkFits(const Table &table, Diagnostics &diagnostics) const;

  /// The plan has codecs for the layers `name[0]`, `name[1]`, ... of a stack, and none for the stack.
  bool namesLayersOf(const Layer &stack) const;

  /// The kinds of layers that do not all stay exact.
  std::set<Kind> compressedKinds() const;

  /// The codec of a layer that `checkFits` has seen.
  std::optional<Codec> find(const Layer &layer) const;

private:
  struct Entry {
    std::string dtype;
    int64_t elements;
    Codec codec;
  };
  /// Name and kind.
  using Key = std::pair<std::string, std::string>;

  static Key keyOf(const Layer &layer);

  std::string path;
  std::map<Key, Entry> entries;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_PLANNEDCODECS_H
