//===-- plan/Fields.h - Members of JSON objects, checked -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads members of an object and says, where one is missing or of another kind, where.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PLAN_FIELDS_H
#define CGX_RUNTIME_PLAN_FIELDS_H

#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace cgx::plan {

class Fields {
public:
  Fields(const nlohmann::json &object, std::string place) : object(object), place(std::move(place)) {
    if (!object.is_object())
      throw Error(this->place + ": expected an object");
  }

  const nlohmann::json &at(const char *name) const {
    auto found = object.find(name);
    if (found == object.end())
      throw Error(place + ": expected '" + name + "'");
    return *found;
  }

  bool has(const char *name) const { return object.contains(name) && !object[name].is_null(); }

  std::string text(const char *name) const {
    if (!at(name).is_string())
      throw Error(place + ": expected a string as '" + name + "'");
    return at(name).get<std::string>();
  }

  uint64_t count(const char *name) const {
    const nlohmann::json &value = at(name);
    if (!value.is_number_unsigned())
      throw Error(place + ": expected a whole number that is not negative as '" + name + "', got " +
                  value.dump());
    return value.get<uint64_t>();
  }

  /// A number that is not negative; null, as JSON knows no infinity, is infinite.
  double amount(const char *name) const {
    const nlohmann::json &value = at(name);
    if (value.is_null())
      return std::numeric_limits<double>::infinity();
    if (!value.is_number() || !(value.get<double>() >= 0))
      throw Error(place + ": expected a number that is not negative as '" + name + "', got " + value.dump());
    return value.get<double>();
  }

  double amountOr(const char *name, double fallback) const { return has(name) ? amount(name) : fallback; }

  std::string codec(const char *name) const {
    try {
      return canonicalCodec(at(name).dump());
    } catch (const Error &error) {
      throw Error(place + ": " + error.what());
    }
  }

  const nlohmann::json &list(const char *name) const {
    if (!at(name).is_array())
      throw Error(place + ": expected a list as '" + name + "'");
    return at(name);
  }

private:
  const nlohmann::json &object;
  std::string place;
};

/// The text as an object whose member `schema` is `version`.
inline nlohmann::json parseSchema(std::string_view text, const char *schema, unsigned version) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception &error) {
    throw Error(std::string("expected JSON: ") + error.what());
  }
  if (!json.is_object() || !json.contains(schema))
    throw Error(std::string("expected '") + schema + "': this is another kind of file");
  if (json[schema] != version)
    throw Error(std::string("expected '") + schema + "' of version " + std::to_string(version) + ", got " +
                json[schema].dump());
  return json;
}

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_FIELDS_H
