//===-- KindCodecs.h - Which kinds have which codecs ------------*- C++ -*-===//
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
/// Of every parameter, in the order of the table of codecs.
std::span<const CodecOption> codecOptions();

/// An option for the codec of the layers of a kind.
struct KindCodecOption {
  Kind kind;
  const char *argument, *description;
};
/// Of every kind.
std::span<const KindCodecOption> kindCodecOptions();

/// The codecs of kinds with what other options stand for written out: `qsdp` (QSDP, section 5.7.1: W8G8,
/// buckets of 1024; weights by random shift, definition 1; gradients unbiased), and that what is compressed
/// along some axes only is exact along others.
KindCodecs completeKindCodecs(KindCodecs given, bool qsdp, const std::string &along,
                              const std::vector<std::string> &kinds);

/// The kinds that may be compressed, where `kinds` is what the user says of that; empty is what is usual.
std::vector<std::string> kindsToCompress(const std::vector<std::string> &kinds, const KindCodecs &codecs);

/// The codec of gradients, in the words of their option, where they have one; else `codec`.
std::string codecOfGradients(const std::string &codec, const KindCodecs &codecs);

/// Whether the user asked for no codec but `identity`.
bool asksForIdentity(const CodecOptions &options);

} // namespace cgx::layers

#endif // CGX_LAYERS_KINDCODECS_H
