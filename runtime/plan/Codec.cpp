//===-- plan/Codec.cpp - Codecs as text -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plan/Codec.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Parse.h"
#include "cgx/plan/Error.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace cgx::plan {

using Json = nlohmann::json; // sorts keys

namespace {

std::string valueText(const Json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the label: the family first, then the parameters in the usual order.
std::string label(std::string_view json, bool brief) {
  Json codec = formats::parseJson(formats::parseCodecText(json).json);
  const Json usual = readCodecLabel(codec["family"].get<std::string>());
  std::string text = codec["family"].get<std::string>();
  std::vector<std::string> keys;
  for (const char *first : {"bits", "bucket", "rounding", "scale"})
    if (codec.contains(first))
      keys.push_back(first);
  for (const auto &[key, value] : codec.items())
    if (key != "family" && std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(key);
  for (const std::string &key : keys) {
    bool isDefault = (key == "rounding" || key == "scale") && usual.contains(key) && codec[key] == usual[key];
    if (!brief || !isDefault)
      text += " " + key + "=" + valueText(codec[key]);
  }
  return text;
}

} // namespace

std::string canonicalCodec(std::string_view json) { return formats::parseCodecText(json).json; }

std::string parseCodecLabel(std::string_view label) {
  std::string text(label);
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  std::string word;
  if (!(words >> word) || word.find('=') != std::string::npos)
    throw Error("expected a codec such as 'quantize bits=4 bucket=128', got '" + std::string(label) + "'");
  while (words >> word) {
    size_t sign = word.find('=');
    if (sign == 0 || sign == std::string::npos || sign + 1 == word.size())
      throw Error("expected NAME=VALUE in the codec '" + std::string(label) + "', got '" + word + "'");
  }
  return formats::parseCodec(readCodecLabel(text)).json;
}

namespace {

/// Expands `2..8` or `128|512` to single values; returns any other text as it is.
std::vector<std::string> expandValue(const std::string &text) {
  std::vector<std::string> values;
  size_t dots = text.find("..");
  auto isWhole = [](const std::string &part) {
    return !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
  };
  if (dots != std::string::npos) {
    std::string first = text.substr(0, dots), last = text.substr(dots + 2);
    if (!isWhole(first) || !isWhole(last) || std::stol(first) > std::stol(last) ||
        std::stol(last) - std::stol(first) > 1000)
      throw Error("expected a range such as 2..8, got '" + text + "'");
    for (long value = std::stol(first); value <= std::stol(last); ++value)
      values.push_back(std::to_string(value));
    return values;
  }
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '|');)
    values.push_back(part);
  return values;
}

} // namespace

std::vector<std::string> expandCodecLabel(std::string_view label) {
  std::istringstream words{std::string(label)};
  std::vector<std::string> labels = {""};
  for (std::string word; words >> word;) {
    size_t sign = word.find('=');
    std::vector<std::string> longer;
    for (const std::string &begun : labels)
      for (const std::string &value : expandValue(sign == std::string::npos ? word : word.substr(sign + 1)))
        longer.push_back(begun + (begun.empty() ? "" : " ") +
                         (sign == std::string::npos ? value : word.substr(0, sign + 1) + value));
    labels = std::move(longer);
  }
  std::vector<std::string> codecs;
  for (const std::string &single : labels)
    codecs.push_back(parseCodecLabel(single));
  return codecs;
}

std::pair<std::string, std::string> splitKind(std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos || text.substr(0, sign).find_first_of(" ,<") != std::string_view::npos)
    return {"", std::string(text)};
  return {std::string(text.substr(0, sign)), std::string(text.substr(sign + 1))};
}

std::string codecLabel(std::string_view json) { return label(json, /*brief=*/false); }

std::string shortCodecLabel(std::string_view json) { return label(json, /*brief=*/true); }

} // namespace cgx::plan
