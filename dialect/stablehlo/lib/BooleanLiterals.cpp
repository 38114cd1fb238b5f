//===-- BooleanLiterals.cpp - recognizes bytes per boolean --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/BooleanLiterals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace llvm;

namespace {

/// Reads tokens of text that ends in NUL.
class Cursor {
public:
  explicit Cursor(const char *text) : at(text) {}

  /// Consumes `token`, after white space. A word must not continue after it.
  bool consume(StringRef token) {
    skipSpace();
    for (size_t i = 0; i < token.size(); ++i)
      if (at[i] != token[i])
        return false;
    if (isAlnum(token.back()) && (isAlnum(at[token.size()]) || at[token.size()] == '_'))
      return false;
    at += token.size();
    return true;
  }

  /// Takes hexadecimal digits that stand right here.
  StringRef takeDigits() {
    const char *begin = at;
    while (isHexDigit(*at))
      ++at;
    return StringRef(begin, at - begin);
  }

  /// Takes dimensions such as `4x?x8x`. Returns the product of the sizes, if all are known and 64 bits hold
  /// it.
  std::optional<int64_t> takeDimensions() {
    skipSpace();
    std::optional<int64_t> count = 1;
    while (isDigit(*at) || *at == '?') {
      int64_t size = 0;
      if (*at == '?') {
        count.reset();
        ++at;
      }
      for (; isDigit(*at); ++at) {
        std::optional<int64_t> next = checkedMulAdd<int64_t>(size, 10, *at - '0');
        if (!next)
          return std::nullopt;
        size = *next;
      }
      if (*at != 'x')
        return std::nullopt;
      ++at;
      count = count ? checkedMul(*count, size) : count;
    }
    return count;
  }

  bool startsWith(StringRef prefix) const {
    for (size_t i = 0; i < prefix.size(); ++i)
      if (at[i] != prefix[i])
        return false;
    return true;
  }

  void advance(size_t count) { at += count; }

private:
  void skipSpace() {
    while (isSpace(*at))
      ++at;
  }

  const char *at;
};

} // namespace

std::optional<StringRef> cgx::stablehlo::matchByteBooleans(const char *text) {
  Cursor cursor(text);
  if (!cursor.consume("dense") || !cursor.consume("<") || !cursor.consume("\"") || !cursor.startsWith("0x"))
    return std::nullopt;
  cursor.advance(2);
  StringRef digits = cursor.takeDigits();
  if (!cursor.startsWith("\""))
    return std::nullopt;
  cursor.advance(1);
  if (!cursor.consume(">") || !cursor.consume(":") ||
      !(cursor.consume("tensor") || cursor.consume("vector")) || !cursor.consume("<"))
    return std::nullopt;
  std::optional<int64_t> count = cursor.takeDimensions();
  // A single element is valid as it is: both readings of its byte give the same value.
  if (!count || *count <= 1 || !cursor.consume("i1") || digits.size() != 2 * static_cast<uint64_t>(*count))
    return std::nullopt;
  return digits;
}

bool cgx::stablehlo::getByteBoolean(StringRef digits, size_t index) {
  return digits[2 * index] != '0' || digits[2 * index + 1] != '0';
}
