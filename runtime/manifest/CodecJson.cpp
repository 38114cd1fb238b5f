//===-- manifest/CodecJson.cpp - Codecs as JSON ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/manifest/codec_json.h"

#include "cgx/manifest/codec_fields.h"

#include <nlohmann/json.hpp>

namespace cgx {

using Json = nlohmann::json;

namespace {

/// "expected one of a, b as 'name', got 'c'"
template <typename Entries, typename NameOf>
std::string refuseName(const char *name, const std::string &got, const Entries &entries, NameOf nameOf) {
  std::string known;
  for (const auto &entry : entries)
    known.append(known.empty() ? "" : ", ").append(nameOf(entry));
  return "expected one of " + known + " as '" + name + "', got '" + got + "'";
}

std::string readCase(const CodecField &field, const Json &value, cgx_codec &codec) {
  if (!value.is_string())
    return std::string("expected a string as '") + field.name + "'";
  const auto got = value.get<std::string>();
  for (uint32_t i = 0; i < field.cases.size(); ++i)
    if (got == field.cases[i]) {
      codec.*field.number = i;
      return "";
    }
  return refuseName(field.name, got, field.cases, [](std::string_view name) { return name; });
}

std::string readField(const CodecField &field, const Json &entry, cgx_codec &codec) {
  const auto found = entry.find(field.name);
  if (found == entry.end())
    return field.isOptional ? "" : std::string("expected '") + field.name + "'";
  const Json &value = *found;
  if (!field.cases.empty())
    return readCase(field, value, codec);
  if (field.isFlag) {
    if (!value.is_boolean())
      return std::string("expected true or false as '") + field.name + "'";
    codec.*field.number = value.get<bool>() ? 1 : 0;
    return "";
  }
  if (field.real) {
    if (!value.is_number())
      return std::string("expected a number as '") + field.name + "'";
    codec.*field.real = value.get<float>();
    return "";
  }
  // JSON made in C++ may hold a number that is not negative as a signed one.
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0) ||
      value.get<uint64_t>() < field.least || value.get<uint64_t>() > field.most)
    return std::string("expected a number in ") + std::to_string(field.least) + ".." +
           std::to_string(field.most) + " as '" + field.name + "', got " + value.dump();
  codec.*field.number = value.get<uint32_t>();
  return "";
}

} // namespace

std::string readCodec(const Json &entry, cgx_codec &codec) {
  codec = {};
  if (!entry.is_object())
    return "expected an object";
  const auto family = entry.find("family");
  if (family == entry.end() || !family->is_string())
    return "expected a string as 'family'";
  const auto got = family->get<std::string>();
  for (const CodecFamilyFields &known : codecFamilyFields()) {
    if (got != known.name)
      continue;
    codec.family = known.family;
    for (const CodecField &field : known.fields)
      if (std::string wrong = readField(field, entry, codec); !wrong.empty())
        return wrong;
    return "";
  }
  return refuseName("family", got, codecFamilyFields(),
                    [](const CodecFamilyFields &known) { return known.name; });
}

Json writeCodec(const cgx_codec &codec) {
  const CodecFamilyFields &family = fieldsOf(codec.family);
  Json entry = {{"family", family.name}};
  for (const CodecField &field : family.fields) {
    if (field.isOptional && !field.isFlag && isZero(field, codec))
      continue;
    if (field.isFlag)
      entry[field.name] = codec.*field.number != 0;
    else if (field.real)
      entry[field.name] = std::stod(realText(codec.*field.real)); // 0.01, and not the double next to 0.01f
    else if (field.cases.empty())
      entry[field.name] = codec.*field.number;
    else
      entry[field.name] = field.cases[codec.*field.number];
  }
  return entry;
}

} // namespace cgx
