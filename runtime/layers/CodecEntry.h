//===-- CodecEntry.h - Codecs as entries of manifests -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_CODECENTRY_H
#define CGX_LAYERS_CODECENTRY_H

#include "cgx/layers/Codec.h"

#include <map>
#include <memory>
#include <variant>

namespace cgx::layers {

/// The object that describes a codec: its family, and members by name.
struct CodecEntry {
  using Value = std::variant<bool, int64_t, double, std::string, std::shared_ptr<CodecEntry>>;
  std::string family;
  std::map<std::string, Value> members;
};

CodecEntry entryOf(const Codec &codec);

} // namespace cgx::layers

#endif // CGX_LAYERS_CODECENTRY_H
