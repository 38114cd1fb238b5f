//===-- Codec.cpp - Codecs with error feedback and return codecs ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Codec.h"

#include "CodecEntry.h"
#include "Numbers.h"

#include <algorithm>

namespace cgx::layers {

static constexpr std::array<std::string_view, 3> kStorages = {"f32", "bf16", "int8"};

std::string_view nameOf(Storage storage) { return kStorages[static_cast<size_t>(storage)]; }

std::optional<Storage> storageNamed(std::string_view name) {
  for (uint32_t storage = 0; storage < kStorages.size(); ++storage)
    if (kStorages[storage] == name)
      return Storage(storage);
  return std::nullopt;
}

bool Codec::isFixedSize() const {
  return !has(CGX_VARIES_IN_SIZE) && !(returned && (returned->entry().traits & CGX_VARIES_IN_SIZE) != 0);
}

bool Codec::isSparse() const {
  return !feedback && !changes &&
         std::ranges::any_of(valuesOf(forwardCodec()).parameters(), [](const CodecParameter &parameter) {
           return parameter.name == "density" || parameter.name == "threshold";
         });
}

bool Codec::readsOptimizer() const {
  const cgx_codec one = forwardCodec(), other = returnCodec();
  return cgx_codec_needs(&one, CGX_KEPT_PARAMETER) || cgx_codec_needs(&other, CGX_KEPT_PARAMETER);
}

static bool takesType(const CodecValues &codec, cgx_element_type type) {
  return (codec.entry().traits & CGX_TAKES_ANY_TYPE) != 0 || type == CGX_F32 || type == CGX_F16 ||
         type == CGX_BF16;
}

bool Codec::takes(cgx_element_type type) const {
  return takesType(forward, type) && (!returned || takesType(*returned, type));
}

std::string Codec::rejectShape(cgx_element_type type, std::span<const int64_t> shape) const {
  if (!has(CGX_HAS_NO_PAYLOADS))
    return "";
  // Factors are useful only for matrices with more elements than they have.
  const std::vector<uint64_t> sizes(shape.begin(), shape.end());
  uint64_t elements = 1;
  for (uint64_t size : sizes)
    elements *= size;
  const uint64_t rows = cgx_matrix_rows(sizes.data(), sizes.size());
  const uint32_t rank = forwardCodec().rank;
  if (rank <= cgx_lowrank_most(rows, type, elements))
    return "";
  return "factors of rank " + std::to_string(rank) + " are no shorter than a matrix of " +
         std::to_string(rows) + "x" + std::to_string(elements / rows);
}

// ---- Texts

static std::string assemblyOf(const CodecValues &codec) {
  std::string text = "#cgx." + std::string(codec.entry().name);
  const char *between = "<";
  for (size_t i = 0; i < codec.parameters().size(); ++i) {
    const CodecParameter &parameter = codec.parameters()[i];
    if (!codec.writes(i))
      continue;
    text.append(std::exchange(between, ", ")).append(parameter.name);
    if (parameter.real)
      text += " = " + realAssembly(codec.values[i]);
    else if (!parameter.isFlag)
      text += " = " + codec_table::textOf(parameter, codec.values[i]);
  }
  return *between == ',' ? text + ">" : text;
}

std::string assemblyOf(const Codec &codec) {
  std::string text = assemblyOf(codec.forward);
  if (codec.returned)
    text = "#cgx.two_way<there = " + text + ", back = " + assemblyOf(*codec.returned) + ">";
  if (codec.feedback)
    text = "#cgx.error_feedback<" + text + ", decay = " + realAssembly(codec.feedback->decay) +
           ", storage = " + std::string(nameOf(codec.feedback->storage)) + ">";
  if (codec.changes)
    text = "#cgx.delta<" + text + ", samples = " + std::to_string(codec.changes->samples) +
           ", storage = " + std::string(nameOf(codec.changes->storage)) + ">";
  return text;
}

static std::string fullTextOf(const CodecEntry &entry) {
  std::string text = entry.family;
  for (const auto &[name, value] : entry.members) {
    if (const auto *inner = std::get_if<std::shared_ptr<CodecEntry>>(&value))
      text += " " + name + "=(" + fullTextOf(**inner) + ")";
    else if (const auto *flag = std::get_if<bool>(&value))
      text += *flag ? " " + name : "";
    else if (const auto *number = std::get_if<int64_t>(&value))
      text += " " + name + "=" + std::to_string(*number);
    else if (const auto *real = std::get_if<double>(&value))
      text += " " + name + "=" + realText(float(*real));
    else
      text += " " + name + "=" + std::get<std::string>(value);
  }
  return text;
}

std::string fullTextOf(const Codec &codec) { return fullTextOf(entryOf(codec)); }

static std::string shortTextOf(const cgx_codec &codec) {
  const CodecValues values = valuesOf(codec);
  std::string text(values.entry().name);
  for (size_t i = 0; i < values.parameters().size(); ++i) {
    const CodecParameter &parameter = values.parameters()[i];
    const double value = values.values[i];
    if (parameter.isFlag && value != 0)
      text += " " + std::string(parameter.name);
    else if (!parameter.isFlag && ((i == 0 && !parameter.isQuiet) || value != values.usual(parameter)))
      text += " " + std::string(parameter.name) + "=" +
              (parameter.real ? realText(float(value)) : codec_table::textOf(parameter, value));
  }
  return text;
}

std::string shortTextOf(const Codec &codec) {
  std::string text = shortTextOf(codec.forwardCodec());
  if (codec.returned)
    text += " back=(" + shortTextOf(codec.returnCodec()) + ")";
  if (codec.changes)
    text.append(" delta=").append(nameOf(codec.changes->storage));
  if (codec.feedback)
    text.append(" error_feedback=").append(nameOf(codec.feedback->storage));
  if (codec.changes)
    text += " samples=" + std::to_string(codec.changes->samples);
  if (codec.feedback && codec.feedback->decay != 1)
    text += " decay=" + realText(float(codec.feedback->decay));
  return text;
}

// ---- Codecs that contain codecs

std::string checkFeedback(const Codec &of, double decay) {
  if (of.isLossless() || of.feedback || of.changes) // (C1) of #cgx.error_feedback
    return "expected error feedback of a lossy codec, got " + assemblyOf(of);
  if (!(decay > 0 && decay <= 1)) // (C2)
    return "expected decay to be above 0 and up to 1, got " + scientific(decay);
  return "";
}

std::string checkReturnCodec(const Codec &forward, const Codec &returned) {
  for (const Codec *codec : {&forward, &returned})
    if (codec->feedback || codec->changes || codec->needsAllReduce()) // (C1) of #cgx.two_way
      return "expected a codec for one way, without error feedback, got " + assemblyOf(*codec);
  if (forward.isLossless() && returned.isLossless()) // (C2)
    return "expected a lossy codec for one of the ways, got " + assemblyOf(forward) + " and " +
           assemblyOf(returned);
  return "";
}

std::string checkChanges(const Codec &of, int64_t samples, Storage storage) {
  if (of.returned || of.feedback || of.changes || of.isLossless() || !of.isFixedSize() ||
      of.needsAllReduce()) // (C1) of #cgx.delta
    return "expected changes in a lossy codec with payloads of one size, without error feedback and with one "
           "way, got " +
           assemblyOf(of);
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (samples < 1 || samples > most) // (C2)
    return "expected samples to be 1 to " + std::to_string(most) + ", got " + std::to_string(samples);
  if (storage != Storage::F32 && storage != Storage::BF16) // (C3)
    return "expected messages in f32 or bf16, got " + std::string(nameOf(storage));
  return "";
}

} // namespace cgx::layers
