//===-- Codec.h - Codecs with error feedback and return codecs --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The content of the dialect's codec attributes, and its properties: a family with its parameters, maybe
// another codec for results, error feedback, or changes instead of values. This file decides which codecs may
// contain which, and how manifests and reports spell them.
#ifndef CGX_LAYERS_CODEC_H
#define CGX_LAYERS_CODEC_H

#include "cgx/codec_table.h"

#include <optional>
#include <span>
#include <string>

namespace cgx::layers {

/// The storage of codec state. The numbers are those of the dialect's ResidualStorage.
enum class Storage : uint32_t { F32, BF16, Int8 };
std::string_view nameOf(Storage storage);
std::optional<Storage> storageNamed(std::string_view name);

/// The parameters of error feedback.
struct Feedback {
  double decay = 1;
  Storage storage = Storage::F32;
  bool operator==(const Feedback &) const = default;
};

/// The parameters of sending changes.
struct Delta {
  int64_t samples = 0;
  Storage storage = Storage::F32;
  bool operator==(const Delta &) const = default;
};

struct Codec {
  CodecValues forward = usualCodec(CGX_CODEC_IDENTITY);
  std::optional<CodecValues> returned; ///< codec of an all-reduce's results, if it is another
  std::optional<Feedback> feedback;
  std::optional<Delta> changes;

  bool operator==(const Codec &) const = default;

  /// Returns true if elements are sent as they are.
  bool isUncompressed() const { return forward.family == CGX_CODEC_IDENTITY && !isWrapped(); }
  /// Returns true if decode(encode(x)) is x, bit for bit.
  bool isLossless() const { return has(CGX_KEEPS_EVERY_BIT) && !isWrapped(); }
  bool isFixedSize() const;
  /// Returns true if only an all-reduce can use it, as one op.
  bool needsAllReduce() const { return returned || has(CGX_NEEDS_ALL_REDUCE); }
  /// Returns true if it sends few elements, and keeps nothing of the others.
  bool isSparse() const;
  /// Returns true if it reads tensors of the step's optimizer.
  bool readsOptimizer() const;
  bool takes(cgx_element_type type) const;
  /// Returns why it is of no use for a tensor whose element type it takes; "" if it is.
  std::string rejectShape(cgx_element_type type, std::span<const int64_t> shape) const;

  std::string_view family() const { return forward.entry().name; }
  cgx_codec forwardCodec() const { return toCodec(forward); }
  cgx_codec returnCodec() const { return toCodec(returned.value_or(forward)); }

private:
  bool has(uint32_t trait) const { return (forward.entry().traits & trait) != 0; }
  bool isWrapped() const { return returned || feedback || changes; }
};

/// Returns a family and its parameters as the attribute spells them: "#cgx.quantize<bits = 4, ...>".
std::string assemblyOf(const Codec &codec);

/// Returns all parameters, in the words and the order of manifests: "quantize bits=4 bucket=128 ...".
std::string fullTextOf(const Codec &codec);

/// Returns a short text for people: the first parameter, and those others that differ from their defaults.
std::string shortTextOf(const Codec &codec);

// Return what is wrong with a codec that contains others, or "".
std::string checkFeedback(const Codec &of, double decay);
std::string checkReturnCodec(const Codec &forward, const Codec &returned);
std::string checkChanges(const Codec &of, int64_t samples, Storage storage);

} // namespace cgx::layers

#endif // CGX_LAYERS_CODEC_H
