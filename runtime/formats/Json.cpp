//===-- Json.cpp - Parser of JSON documents ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

namespace cgx::formats {

template <typename Json> Json parseJson(std::string_view text, const JsonLimits &limits) {
  if (text.size() > limits.bytes)
    throw Error("expected JSON of at most " + std::to_string(limits.bytes) + " bytes, got " +
                std::to_string(text.size()));
  JsonBuilder<Json> builder(limits.depth);
  if (!Json::sax_parse(text, &builder))
    throw Error("expected JSON: " + builder.wrong);
  return std::move(builder.document);
}

template nlohmann::json parseJson(std::string_view, const JsonLimits &);
template nlohmann::ordered_json parseJson(std::string_view, const JsonLimits &);

std::string valueText(const nlohmann::json &value) {
  constexpr size_t most = 120;
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
  if (text.size() <= most)
    return text;
  size_t end = most;
  while (end > 0 && (text[end] & 0xc0) == 0x80) // does not cut within a character
    --end;
  return text.substr(0, end) + "...";
}

} // namespace cgx::formats
