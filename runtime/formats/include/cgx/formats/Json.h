//===-- cgx/formats/Json.h - Parser of JSON documents -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All JSON is parsed here: manifests, plans, profiles, machine files, headers of safetensors, reports, and
// messages between ranks. A document is bounded in length and depth before any recursive reader sees it, and
// no object has a name twice. Parsing takes n log n at most.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_JSON_H
#define CGX_FORMATS_JSON_H

#include "cgx/formats/Error.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace cgx::formats {

struct JsonLimits {
  size_t bytes = size_t{1} << 26; ///< 64 MiB: a hundred thousand layers
  size_t depth = 64;              ///< of nested arrays and objects; our documents have less than ten
};

/// Parses the text. Throws Error with the position: "expected JSON: line 3, column 7: ...".
template <typename Json = nlohmann::json>
Json parseJson(std::string_view text, const JsonLimits &limits = {});

extern template nlohmann::json parseJson(std::string_view, const JsonLimits &);
extern template nlohmann::ordered_json parseJson(std::string_view, const JsonLimits &);

/// Returns the value as text for messages, cut if it is long. Strings need not be UTF-8.
std::string valueText(const nlohmann::json &value);

} // namespace cgx::formats

#endif // CGX_FORMATS_JSON_H
