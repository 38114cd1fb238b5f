//===-- cgx/formats/Fields.h - Members of JSON objects, checked -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads members of an object. If one is missing or of another type, the error tells where.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_FIELDS_H
#define CGX_FORMATS_FIELDS_H

#include "cgx/formats/Json.h"

#include <cstdint>

namespace cgx::formats {

class Fields {
public:
  /// `place` names the object in messages; `object` must outlive this reader.
  Fields(const nlohmann::json &object, std::string place);

  const nlohmann::json &at(const char *name) const;
  /// Returns true if the member exists and is not null.
  bool has(const char *name) const;

  std::string text(const char *name) const;
  /// Returns a whole number that is not negative.
  uint64_t count(const char *name) const;
  /// Returns a number that is not negative; null is infinite, as JSON has no infinity.
  double amount(const char *name) const;
  double amountOr(const char *name, double fallback) const { return has(name) ? amount(name) : fallback; }
  /// Returns a number above 0.
  double positive(const char *name) const;
  const nlohmann::json &list(const char *name) const;
  /// Returns a reader of the object that is the member `name`.
  Fields object(const char *name) const;

  [[noreturn]] void reject(const std::string &what) const { throw Error(place_ + ": " + what); }

private:
  const nlohmann::json &object_;
  std::string place_;
};

/// Parses an object whose member `schema` is `version`. `writer` names the program that writes such files,
/// for messages.
nlohmann::json parseSchema(std::string_view text, const char *schema, unsigned version,
                           const std::string &writer = "");

} // namespace cgx::formats

#endif // CGX_FORMATS_FIELDS_H
