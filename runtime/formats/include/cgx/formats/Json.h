//===-- cgx/formats/Json.h - JSON that somebody else wrote -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place where JSON is parsed: manifests, plans, profiles, machine files, headers of safetensors,
// reports, and what ranks tell each other. A document is bounded in length and depth before anything walks
// over it (readers recurse), and no object has a name twice. Time is n log n at most.
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
  size_t depth = 64;              ///< of arrays and objects in each other; our documents have less than ten
};

/// Throws Error, which says where: "expected JSON: line 3, column 7: ...".
template <typename Json = nlohmann::json>
Json parseJson(std::string_view text, const JsonLimits &limits = {});

extern template nlohmann::json parseJson(std::string_view, const JsonLimits &);
extern template nlohmann::ordered_json parseJson(std::string_view, const JsonLimits &);

/// For messages: the value as text, cut where it is long. Takes strings that are not UTF-8.
std::string valueText(const nlohmann::json &value);

} // namespace cgx::formats

#endif // CGX_FORMATS_JSON_H
