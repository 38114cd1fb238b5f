//===-- AssignCodecs.h - A codec for all that may be compressed --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_ASSIGNCODECS_H
#define CGX_LAYERS_ASSIGNCODECS_H

#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

#include <map>

namespace cgx::layers {

/// Codecs of kinds, in words.
using KindCodecs = std::map<Kind, std::string>;

struct CodecOptions {
  std::string codec = "quantize"; ///< of kinds without their own, with its parameters
  std::string backCodec;          ///< of what an all-reduce sends back, if it is another
  std::string errorFeedback = "none";
  double decay = 1;
  KindCodecs ofKinds;
  std::string along; ///< codecs along axes of the mesh
  std::string plan;  ///< its path

  /// Whether something is said of the codec of kinds without their own.
  bool isGiven() const { return codec != "quantize" || !backCodec.empty() || errorFeedback != "none"; }
};

/// Gives each operand without a reason to stay exact its codec, or the reason why that cannot encode it.
/// False after an error.
bool assignCodecs(Table &table, const CodecOptions &options, Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_ASSIGNCODECS_H
