//===-- Codec.h - A codec and what is done beside it ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the attributes of the dialect hold, and what is true of it: a family with its parameters, maybe
// another on the way back, error feedback, or changes in place of values. What may stand in what, how it is
// called in manifests and how in reports is decided here.
#ifndef CGX_LAYERS_CODEC_H
#define CGX_LAYERS_CODEC_H

#include "cgx/codec_table.h"

#include <optional>
#include <span>
#include <string>

namespace cgx::layers {

/// How what codecs remember is kept. The numbers are those of the dialect's ResidualStorage.
enum class Storage : uint32_t { F32, BF16, Int8 };
std::string_view nameOf(Storage storage);
std::optional<Storage> storageNamed(std::string_view name);

/// What a rank makes up for of earlier losses.
struct Feedback {
  double decay = 1;
  Storage storage = Storage::F32;
  bool operator==(const Feedback &) const = default;
};

/// Of messages, of which changes are sent.
struct Changes {
  int64_t samples = 0;
  Storage storage = Storage::F32;
  bool operator==(const Changes &) const = default;
};

struct Codec {
  CodecValues there = usualCodec(CGX_CODEC_IDENTITY);
  std::optional<CodecValues> back; ///< of what an all-reduce sends back, if it is another
  std::optional<Feedback> feedback;
  std::optional<Changes> changes;

  bool operator==(const Codec &) const = default;

  /// Nothing is done to elements.
  bool isRaw() const { return there.family == CGX_CODEC_IDENTITY && !isWrapped(); }
  /// decode(encode(x)) is x, bit for bit.
  bool isExact() const { return has(CGX_KEEPS_EVERY_BIT) && !isWrapped(); }
  bool isFixedSize() const;
  /// Only an all-reduce can use it, as one op.
  bool needsAllReduce() const { return back || has(CGX_NEEDS_ALL_REDUCE); }
  /// It sends few elements, and keeps nothing of the others.
  bool isSparse() const;
  /// It reads what the optimizer of a step keeps.
  bool readsOptimizer() const;
  bool takes(cgx_element_type type) const;
  /// Why it is of no use for a tensor whose elements it takes; "" if it is.
  std::string refuseShape(cgx_element_type type, std::span<const int64_t> shape) const;

  std::string_view family() const { return there.entry().name; }
  cgx_codec wayThere() const { return toCodec(there); }
  cgx_codec wayBack() const { return toCodec(back.value_or(there)); }

private:
  bool has(uint32_t trait) const { return (there.entry().traits & trait) != 0; }
  bool isWrapped() const { return back || feedback || changes; }
};

/// A family and its parameters as the attribute is written: "#cgx.quantize<bits = 4, ...>".
std::string assemblyOf(const Codec &codec);

/// With all parameters, in the words and the order of manifests: "quantize bits=4 bucket=128 ...".
std::string fullTextOf(const Codec &codec);

/// For people: the first parameter, and of the others those that are not what they are where nobody says.
std::string shortTextOf(const Codec &codec);

// What is wrong with a codec that is made of others, or "".
std::string checkFeedback(const Codec &of, double decay);
std::string checkTwoWay(const Codec &there, const Codec &back);
std::string checkChanges(const Codec &of, int64_t samples, Storage storage);

} // namespace cgx::layers

#endif // CGX_LAYERS_CODEC_H
