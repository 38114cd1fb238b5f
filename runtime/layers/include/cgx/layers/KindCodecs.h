//===-- KindCodecs.h - Codecs of kinds --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_KINDCODECS_H
#define CGX_LAYERS_KINDCODECS_H

#include "cgx/layers/AssignCodecs.h"

#include <span>

namespace cgx::layers {

/// An option for the parameters of one name, of all families.
struct CodecOption {
  std::string argument, description;
  bool isFlag;
};
/// Returns the options of all parameters, in the order of the table of codecs.
std::span<const CodecOption> codecOptions();

/// An option for the codec of the layers of a kind.
struct KindCodecOption {
  Kind kind;
  const char *argument, *description;
};
/// Returns the options of all kinds.
std::span<const KindCodecOption> kindCodecOptions();

/// Returns the codecs of kinds with other options expanded: `qsdp` (QSDP, section 5.7.1: W8G8, buckets of
/// 1024; weights by random shift, definition 1; gradients unbiased), and identity for kinds that are
/// compressed only along some axes.
KindCodecs completeKindCodecs(KindCodecs given, bool qsdp, const std::string &along,
                              const std::vector<std::string> &kinds);

/// Returns the kinds that may be compressed. `kinds` is the user's choice; if it is empty, the usual ones.
std::vector<std::string> kindsToCompress(const std::vector<std::string> &kinds, const KindCodecs &codecs);

/// Returns the codec of gradients as text: of their own option if given, else `codec`.
std::string codecOfGradients(const std::string &codec, const KindCodecs &codecs);

/// Returns true if the user asked for no codec but `identity`.
bool asksForIdentity(const CodecOptions &options);

} // namespace cgx::layers

#endif // CGX_LAYERS_KINDCODECS_H
