//===-- cgx/formats/Numbers.h - Whole numbers in JSON -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON has one kind of numbers, and the library keeps those that fit no 64 bits as floats. Converting such a
// float to an integer is undefined in C++, so numbers of foreign documents are checked here.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_NUMBERS_H
#define CGX_FORMATS_NUMBERS_H

#include "cgx/formats/Json.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace cgx::formats {

/// Returns the value as a T. Throws Error unless it is a whole number in the range of T.
template <std::integral T> T wholeNumber(const nlohmann::json &value) {
  if (value.is_number_unsigned() && std::in_range<T>(value.get<uint64_t>()))
    return static_cast<T>(value.get<uint64_t>());
  if (value.is_number_integer() && !value.is_number_unsigned() && std::in_range<T>(value.get<int64_t>()))
    return static_cast<T>(value.get<int64_t>());
  throw Error("expected a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
              std::to_string(std::numeric_limits<T>::max()) + ", got " + valueText(value));
}

/// Returns the whole numbers of a list.
template <std::integral T> std::vector<T> wholeNumbers(const nlohmann::json &list) {
  if (!list.is_array())
    throw Error("expected a list of whole numbers, got " + valueText(list));
  std::vector<T> numbers;
  numbers.reserve(list.size());
  for (const nlohmann::json &value : list)
    numbers.push_back(wholeNumber<T>(value));
  return numbers;
}

} // namespace cgx::formats

#endif // CGX_FORMATS_NUMBERS_H
