//===-- CodecWords.h - Codecs from text -------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Options and plans spell codecs as words: `quantize bits=8`, `quantize<bits=8 bucket=1024>`, `topk
// density=0.01`.
#ifndef CGX_LAYERS_CODECWORDS_H
#define CGX_LAYERS_CODECWORDS_H

#include "cgx/layers/Codec.h"

#include <map>
#include <string>
#include <vector>

namespace cgx::formats {
struct Codec;
} // namespace cgx::formats

namespace cgx::layers {

/// A codec as words, as options spell it.
struct CodecWords {
  std::string codec = "quantize";
  /// The codec of an all-reduce's results; empty: the same.
  std::string backCodec;
  std::string errorFeedback = "none";
  double decay = 1.0;
  /// The storage of message buffers if changes are sent, or "none".
  std::string delta = "none";
  uint64_t samples = 0;

  /// Returns true if a bucket is a row: `bucket=row`.
  bool isOfRows() const;
  /// Returns the codec for rows of `length` elements.
  CodecWords ofRows(int64_t length) const;
};

/// Splits `quantize bits=8 bucket=1024`, `quantize<bits=8 bucket=1024>`, or `bits=8`, whose codec is `usual`.
/// The words may include `error-feedback`, `error-feedback-decay`, `back-codec`, `delta` and `samples`.
/// Returns what is wrong, or "".
std::string splitCodecWords(std::string_view text, std::string_view usual, CodecWords &words);

/// The codec of a kind of layers in collectives along some axes of the mesh.
struct CodecAlong {
  std::string axes; ///< `host`, or several: `host+shard`
  std::string kind;
  std::string codec;
};

/// Splits `shard<gradient=bits=8 weight="bits=4 delta=bf16"> host<gradient=quantize<bits=4 bucket=64>>`:
/// several words of a codec stand in brackets of a family or in quotes. Returns what is wrong, or "".
std::string splitCodecsAlong(std::string_view text, std::vector<CodecAlong> &codecs);

/// Adds parameters (`name=value`, or `name` of a flag) to `family` or `family<name=value,...>`.
std::string addCodecParameters(std::string_view codec, const std::vector<std::string> &parameters);

/// Reads `family` or `family<name = value, ...>`, or a case of a parameter that stands for its family.
/// Parameters may also be separated by spaces. Returns nothing if the text is no codec, and `reason` tells
/// why.
std::optional<Codec> parseCodecText(std::string_view text, std::string &reason);

/// Returns the codec that an entry of a plan or of another file describes, with its error feedback.
std::optional<Codec> parseCodec(const formats::Codec &codec, std::string &reason);

/// Returns the codec with error feedback kept in `storage`; unchanged for `none`.
std::optional<Codec> addErrorFeedback(const Codec &codec, std::string_view storage, double decay,
                                      std::string &reason);

/// Returns the codec that the words describe.
std::optional<Codec> buildCodec(const CodecWords &words, std::string &reason);

} // namespace cgx::layers

#endif // CGX_LAYERS_CODECWORDS_H
