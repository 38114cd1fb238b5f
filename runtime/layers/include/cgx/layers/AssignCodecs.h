//===-- AssignCodecs.h - Codecs for operands that may be compressed -*- C++ -*-===//
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

/// Codecs of kinds, as text.
using KindCodecs = std::map<Kind, std::string>;

struct CodecOptions {
  std::string codec = "quantize"; ///< codec of kinds without their own, with its parameters
  std::string backCodec;          ///< codec of an all-reduce's results, if it is another
  std::string errorFeedback = "none";
  double decay = 1;
  KindCodecs ofKinds;
  std::string along; ///< codecs along axes of the mesh
  std::string plan;  ///< path of the plan

  /// Returns true if the codec of kinds without their own was given.
  bool isGiven() const { return codec != "quantize" || !backCodec.empty() || errorFeedback != "none"; }
};

/// Gives each operand without a reason to stay uncompressed its codec, or the reason why that cannot encode
/// it. Returns false after an error.
bool assignCodecs(Table &table, const CodecOptions &options, Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_ASSIGNCODECS_H
