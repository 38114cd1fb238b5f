//===-- Numbers.h - Numbers as text -----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Numbers are written as LLVM writes them, without a locale: text that was written once is read and compared
// for years.
#ifndef CGX_LAYERS_NUMBERS_H
#define CGX_LAYERS_NUMBERS_H

#include <array>
#include <charconv>
#include <string>

namespace cgx::layers {

/// Returns text such as "1.500000e+00".
inline std::string scientific(double value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, 6).ptr};
}

/// Returns text such as "1.500000".
inline std::string fixed(double value) {
  std::array<char, 512> text;
  return {text.data(), std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 6).ptr};
}

/// Returns a number as in an attribute: in scientific notation, unless that would be read as another number.
inline std::string realAssembly(double value) {
  std::string text = scientific(value);
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  if (read == value)
    return text;
  std::array<char, 64> all;
  return {all.data(), std::to_chars(all.begin(), all.end(), value, std::chars_format::scientific).ptr};
}

/// Returns a number as in JSON, with 17 digits and without trailing zeros.
inline std::string jsonReal(double value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.begin(), text.end(), value, std::chars_format::general, 17).ptr};
}

} // namespace cgx::layers

#endif // CGX_LAYERS_NUMBERS_H
