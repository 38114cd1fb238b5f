//===-- Fields.cpp - Members of JSON objects, checked -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/Fields.h"

#include <limits>

namespace cgx::formats {

using Json = nlohmann::json;

Fields::Fields(const Json &object, std::string place) : object_(object), place_(std::move(place)) {
  if (!object.is_object())
    reject("expected an object, got " + valueText(object));
}

const Json &Fields::at(const char *name) const {
  auto found = object_.find(name);
  if (found == object_.end())
    reject(std::string("expected '") + name + "'");
  return *found;
}

bool Fields::has(const char *name) const {
  auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

std::string Fields::text(const char *name) const {
  const Json &value = at(name);
  if (!value.is_string())
    reject(std::string("expected a string as '") + name + "', got " + valueText(value));
  return value.get<std::string>();
}

uint64_t Fields::count(const char *name) const {
  const Json &value = at(name);
  if (!value.is_number_unsigned())
    reject(std::string("expected a whole number that is not negative as '") + name + "', got " +
           valueText(value));
  return value.get<uint64_t>();
}

double Fields::amount(const char *name) const {
  const Json &value = at(name);
  if (value.is_null())
    return std::numeric_limits<double>::infinity();
  if (!value.is_number() || !(value.get<double>() >= 0))
    reject(std::string("expected a number that is not negative as '") + name + "', got " + valueText(value));
  return value.get<double>();
}

double Fields::positive(const char *name) const {
  const Json &value = at(name);
  if (!value.is_number() || !(value.get<double>() > 0))
    reject(std::string("expected a number above 0 as '") + name + "', got " + valueText(value));
  return value.get<double>();
}

const Json &Fields::list(const char *name) const {
  const Json &value = at(name);
  if (!value.is_array())
    reject(std::string("expected a list as '") + name + "', got " + valueText(value));
  return value;
}

Fields Fields::object(const char *name) const {
  return Fields(at(name), "'" + std::string(name) + "' of " + place_);
}

Json parseSchema(std::string_view text, const char *schema, unsigned version, const std::string &writer) {
  Json json = parseJson(text);
  const std::string by = writer.empty() ? "" : ", as " + writer + " writes it";
  if (!json.is_object() || !json.contains(schema))
    throw Error(std::string("expected '") + schema + "' of version " + std::to_string(version) + by +
                ": this is another kind of file");
  if (json[schema] != version)
    throw Error(std::string("expected '") + schema + "' of version " + std::to_string(version) + by +
                ", got " + valueText(json[schema]));
  return json;
}

} // namespace cgx::formats
