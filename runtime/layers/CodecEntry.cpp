//===-- CodecEntry.cpp - Codecs as entries of manifests -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecEntry.h"

namespace cgx::layers {

static CodecEntry entryOf(const CodecValues &codec) {
  CodecEntry entry{std::string(codec.entry().name), {}};
  for (size_t i = 0; i < codec.parameters().size(); ++i) {
    const CodecParameter &parameter = codec.parameters()[i];
    const double value = codec.values[i];
    // A parameter that the codec does not have may still have a value, which kernels use.
    const bool isImplied = !codec.has(parameter) && value != 0;
    if (!parameter.isFlag && !codec.writes(i) && !isImplied)
      continue;
    CodecEntry::Value &member = entry.members[std::string(parameter.name)];
    if (parameter.isFlag)
      member = value != 0;
    else if (parameter.real)
      member = value;
    else if (!parameter.cases.empty())
      member = codec_table::textOf(parameter, value);
    else
      member = static_cast<int64_t>(value);
  }
  return entry;
}

CodecEntry entryOf(const Codec &codec) {
  CodecEntry entry = entryOf(codec.forward);
  if (codec.returned)
    entry.members["back"] = std::make_shared<CodecEntry>(entryOf(*codec.returned));
  if (codec.feedback) {
    entry.members["error_feedback"] = std::string(nameOf(codec.feedback->storage));
    entry.members["decay"] = codec.feedback->decay;
  }
  if (codec.changes) {
    entry.members["delta"] = std::string(nameOf(codec.changes->storage));
    entry.members["samples"] = codec.changes->samples;
  }
  return entry;
}

} // namespace cgx::layers
