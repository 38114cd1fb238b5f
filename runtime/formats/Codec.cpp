//===-- Codec.cpp - Codecs in documents -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/codec_table.h"
#include "cgx/formats/Closest.h"
#include "cgx/formats/Parse.h"

#include <algorithm>

namespace cgx::formats {

using Json = nlohmann::json; // sorts names

/// A limit above the length of any number or name.
static constexpr size_t kMostCharacters = 64;

static std::string parameterText(const std::string &name, const Json &value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (value.is_string() && text.size() > kMostCharacters)
    throw Error("expected at most " + std::to_string(kMostCharacters) + " characters as '" + name +
                "' of a codec, got " + valueText(value));
  return text;
}

static std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Checks the names of parameters: a misspelt one would be ignored, and the codec would be another one.
static void checkNames(const std::string &family, const Json &codec) {
  const CodecFamilyEntry *entry = codecFamilyNamed(family);
  std::vector<std::string> known;
  if (!entry) {
    for (const CodecFamilyEntry &one : codecFamilies())
      known.emplace_back(one.name);
    throw Error("expected one of " + listed(known) + " as 'family' of a codec, got " + valueText(family) +
                askMeant(family, known));
  }
  for (const auto &parameter : entry->parameters)
    known.emplace_back(parameter.name);
  known.insert(known.end(), {"error_feedback", "decay"});
  for (const auto &[name, member] : codec.items())
    if (name != "family" && std::find(known.begin(), known.end(), name) == known.end())
      throw Error("expected one of " + listed(known) + " in a codec of family " + family + ", got " +
                  valueText(name) + askMeant(name, known));
}

Codec parseCodec(const Json &value) {
  if (!value.is_object() || !value.contains("family") || !value["family"].is_string())
    throw Error("expected a codec, an object with a 'family', got " + valueText(value));
  Codec codec;
  codec.family = parameterText("family", value["family"]);
  checkNames(codec.family, value);
  Json sorted = value;
  for (auto entry = sorted.begin(); entry != sorted.end();)
    entry = *entry == false ? sorted.erase(entry) : std::next(entry);
  for (const auto &[name, member] : sorted.items()) {
    if (name == "error_feedback")
      codec.errorFeedback = parameterText(name, member);
    else if (name == "decay")
      codec.decay = parameterText(name, member);
    else if (name != "family")
      codec.parameters.push_back({name, member == true ? "" : parameterText(name, member)});
  }
  codec.json = sorted.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  return codec;
}

Codec parseCodecText(std::string_view text) { return parseCodec(parseJson(text)); }

} // namespace cgx::formats
