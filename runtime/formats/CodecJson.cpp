//===-- manifest/CodecJson.cpp - Codecs as JSON ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/CodecJson.h"

#include "cgx/codec_table.h"
#include "cgx/formats/Json.h"

#include <nlohmann/json.hpp>

#include <sstream>

namespace cgx {

using Json = nlohmann::json;

namespace {

/// Returns text such as "expected one of a, b as 'name', got 'c'".
template <typename Entries>
std::string rejectName(std::string_view name, const std::string &got, const Entries &entries) {
  std::string known;
  for (const auto &entry : entries)
    known.append(known.empty() ? "" : ", ").append(entry.name);
  return "expected one of " + known + " as '" + std::string(name) + "', got '" + got + "'";
}

std::string readCase(const CodecParameter &parameter, const Json &value, cgx_codec &codec) {
  if (!value.is_string())
    return "expected a string as '" + std::string(parameter.name) + "'";
  const auto got = value.get<std::string>();
  for (uint32_t i = 0; i < parameter.cases.size(); ++i)
    if (got == parameter.cases[i].name) {
      codec.*parameter.number = i;
      return "";
    }
  return rejectName(parameter.name, got, parameter.cases);
}

std::string readParameter(const CodecParameter &parameter, const Json &entry, cgx_codec &codec) {
  const std::string as = "'" + std::string(parameter.name) + "'";
  const auto found = entry.find(parameter.name);
  if (found == entry.end())
    return parameter.isLater ? "" : "expected " + as;
  const Json &value = *found;
  if (!parameter.cases.empty())
    return readCase(parameter, value, codec);
  if (parameter.isFlag) {
    if (!value.is_boolean())
      return "expected true or false as " + as;
    codec.*parameter.number = value.get<bool>() ? 1 : 0;
    return "";
  }
  if (parameter.real) {
    if (!value.is_number())
      return "expected a number as " + as;
    codec.*parameter.real = value.get<float>();
    return "";
  }
  // JSON built in C++ may hold a number that is not negative as a signed one. Codecs without buckets have
  // bucket 0.
  const uint64_t least = parameter.only.field ? 0 : parameter.least;
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0) ||
      value.get<uint64_t>() < least || value.get<uint64_t>() > parameter.most)
    return "expected a number in " + std::to_string(least) + ".." + std::to_string(parameter.most) + " as " +
           as + ", got " + value.dump();
  codec.*parameter.number = value.get<uint32_t>();
  return "";
}

/// Returns a number or a flag if the text is one, else the text.
Json numberOrName(const std::string &text) {
  const bool isNumber = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (!isNumber && text != "true" && text != "false")
    return text;
  try {
    Json value = formats::parseJson(text, {.depth = 0});
    return value.is_number() || value.is_boolean() ? value : Json(text);
  } catch (const formats::Error &) {
    return text;
  }
}

Json valueOf(const CodecParameter &parameter, double value) {
  if (parameter.isFlag)
    return value != 0;
  if (parameter.real)
    return value;
  if (parameter.cases.empty())
    return uint32_t(value);
  return parameter.cases[size_t(value)].name;
}

} // namespace

std::string readCodec(const Json &entry, cgx_codec &codec) {
  codec = {};
  if (!entry.is_object())
    return "expected an object";
  const auto name = entry.find("family");
  if (name == entry.end() || !name->is_string())
    return "expected a string as 'family'";
  const auto got = name->get<std::string>();
  const CodecFamilyEntry *family = codecFamilyNamed(got);
  if (!family)
    return rejectName("family", got, codecFamilies());
  codec.family = family->family;
  for (const CodecParameter &parameter : family->parameters)
    if (std::string wrong = readParameter(parameter, entry, codec); !wrong.empty())
      return wrong;
  return "";
}

Json writeCodec(const cgx_codec &codec) {
  const CodecValues values = valuesOf(codec);
  Json entry = {{"family", values.entry().name}};
  for (size_t i = 0; i < values.parameters().size(); ++i) {
    const CodecParameter &parameter = values.parameters()[i];
    const bool isThere = !values.has(parameter) && values.values[i] != 0; // the 32 elements of an mx format
    if (parameter.isFlag || values.writes(i) || isThere)
      entry[std::string(parameter.name)] = valueOf(parameter, values.values[i]);
  }
  return entry;
}

Json readCodecLabel(const std::string &text) {
  std::istringstream words(text);
  std::string name, word;
  words >> name;
  Json entry = Json::object();
  while (words >> word) {
    const size_t sign = word.find('=');
    const std::string given = sign == std::string::npos ? "true" : word.substr(sign + 1);
    entry[word.substr(0, sign)] = numberOrName(given);
  }
  if (auto [parameter, number] = shortForm(name); parameter) {
    entry.emplace(std::string(parameter->name), name);
    name = codecFamilies()[number].name;
  }
  entry["family"] = name;
  const CodecFamilyEntry *family = codecFamilyNamed(name);
  if (!family)
    return entry;
  // Parameters that are left out have the values that are usual with those given.
  CodecValues values = usualCodec(family->family);
  for (size_t i = 0; i < family->parameters.size(); ++i) {
    const CodecParameter &parameter = family->parameters[i];
    values.values[i] = values.usual(parameter);
    const auto found = entry.find(parameter.name);
    cgx_codec codec = {};
    if (found == entry.end()) {
      if (values.writes(i) && !parameter.isRequired)
        entry[std::string(parameter.name)] = valueOf(parameter, values.values[i]);
      else if (!values.has(parameter) && values.values[i] != 0)
        entry[std::string(parameter.name)] = valueOf(parameter, values.values[i]);
    } else if (!parameter.cases.empty() && readCase(parameter, *found, codec).empty()) {
      values.values[i] = codec.*parameter.number;
    }
  }
  return entry;
}

} // namespace cgx
