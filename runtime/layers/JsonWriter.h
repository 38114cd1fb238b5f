//===-- JsonWriter.h - Writer of JSON ---------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A writer of JSON, compact or with an element on each line. Members of objects are written in the order of
// the calls; text that is hashed is written in the order of names.
#ifndef CGX_LAYERS_JSONWRITER_H
#define CGX_LAYERS_JSONWRITER_H

#include "Numbers.h"

#include <concepts>
#include <string>
#include <string_view>

namespace cgx::layers {

class JsonWriter {
public:
  explicit JsonWriter(bool isCompact) : isCompact(isCompact) {}

  const std::string &text() const { return out; }

  template <typename Body> void object(Body body) { enclose('{', '}', body); }
  template <typename Body> void array(Body body) { enclose('[', ']', body); }

  /// Writes the name of a member, before its value.
  void name(std::string_view name) {
    separate();
    quote(name);
    out += isCompact ? ":" : ": ";
    isNamed = true;
  }

  void value(std::string_view text) { begin(), quote(text); }
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(const char *text) { value(std::string_view(text)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  void value(double real) { raw(jsonReal(real)); }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  void value(Number number) {
    raw(std::to_string(number));
  }
  void null() { raw("null"); }
  /// Writes JSON that is already text.
  void raw(std::string_view json) { begin(), out += json; }

  template <typename Value> void member(std::string_view key, const Value &given) { name(key), value(given); }

  template <typename Numbers> void numbers(std::string_view key, const Numbers &all) {
    name(key);
    array([&] {
      for (auto number : all)
        value(number);
    });
  }

private:
  template <typename Body> void enclose(char open, char close, Body body) {
    begin();
    out += open;
    ++depth;
    const bool before = hasValue;
    hasValue = false;
    body();
    --depth;
    if (hasValue)
      breakLine();
    out += close;
    hasValue = before;
  }

  /// Called before a value: after its name, or among others.
  void begin() {
    if (!isNamed && depth != 0)
      separate();
    isNamed = false;
  }

  void separate() {
    if (hasValue)
      out += ',';
    hasValue = true;
    breakLine();
  }

  void breakLine() {
    if (!isCompact)
      out.append(1, '\n').append(depth, ' ');
  }

  void quote(std::string_view text) {
    out += '"';
    for (char c : text) {
      if (c == '"' || c == '\\')
        out += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) {
        out += c;
        continue;
      }
      constexpr std::string_view digits = "0123456789abcdef";
      if (c == '\t')
        out += "\\t";
      else if (c == '\n')
        out += "\\n";
      else if (c == '\r')
        out += "\\r";
      else
        out.append("\\u00").append(1, digits[size_t(c) >> 4]).append(1, digits[size_t(c) & 15]);
    }
    out += '"';
  }

  std::string out;
  bool isCompact, hasValue = false, isNamed = false;
  size_t depth = 0;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_JSONWRITER_H
