//===-- ParameterReader.cpp - Reader of codec parameters in brackets ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParameterReader.h"

#include "cgx/layers/Text.h"

#include <algorithm>
#include <charconv>

namespace cgx::layers {

namespace {

/// Characters with which no part of an attribute begins.
constexpr std::string_view kForeign = "$&;~'`\\";

/// A reader of words, numbers and signs.
class Reader {
public:
  explicit Reader(std::string_view text) : rest(text) {}

  bool isAtEnd() { return skipSpace().empty(); }
  /// Returns the error for unexpected text: a foreign character, or what was expected.
  std::string expected(const char *what) {
    const std::string_view text = skipSpace();
    return !text.empty() && kForeign.find(text.front()) != std::string_view::npos ? "unexpected character"
                                                                                  : what;
  }
  std::string_view left() { return skipSpace(); }

  bool consume(char sign) {
    if (!skipSpace().starts_with(sign))
      return false;
    rest.remove_prefix(1);
    return true;
  }

  /// Takes a word; returns "" if there is none.
  std::string_view word() {
    const std::string_view text = skipSpace();
    size_t size = 0;
    while (size < text.size() &&
           (isLetter(text[size]) || text[size] == '_' ||
            (size > 0 && (isDigit(text[size]) || text[size] == '$' || text[size] == '.'))))
      ++size;
    rest.remove_prefix(size);
    return text.substr(0, size);
  }

  /// Takes a whole number; returns nothing if there is none. `reason` tells what is wrong with it.
  std::optional<int64_t> whole(std::string &reason) {
    const std::string_view text = skipSpace();
    for (auto [word, value] : {std::pair<std::string_view, int64_t>{"true", 1}, {"false", 0}})
      if (Reader copy(text); copy.word() == word) {
        rest.remove_prefix(word.size());
        return value;
      }
    const bool isNegative = text.starts_with('-');
    if (!isNegative && (text.empty() || !isDigit(text.front())))
      return std::nullopt;
    if (!isNegative && isReal(text))
      return std::nullopt;
    if (isNegative)
      consume('-');
    const std::string_view digits = skipSpace();
    if (digits.empty() || !isDigit(digits.front()) || isReal(digits)) {
      reason = expected("expected integer value");
      return 0;
    }
    const bool isHex = digits.size() > 2 && digits.starts_with("0x") && isHexDigit(digits[2]);
    uint64_t number = 0;
    const char *begin = digits.data() + (isHex ? 2 : 0);
    auto [end, error] = std::from_chars(begin, digits.data() + digits.size(), number, isHex ? 16 : 10);
    rest.remove_prefix(size_t(end - digits.data()));
    if (error != std::errc() || number > uint64_t(std::numeric_limits<int64_t>::max()))
      reason = "integer value too large";
    return isNegative ? -int64_t(number) : int64_t(number);
  }

  /// Takes digits with a point, and maybe an exponent.
  std::optional<double> real() {
    const std::string_view text = skipSpace();
    if (!isReal(text))
      return std::nullopt;
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
      return std::nullopt;
    rest.remove_prefix(size_t(end - text.data()));
    return value;
  }

private:
  static bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

  /// Returns true if the number at the front has a point or, as people and JSON write it, an exponent.
  static bool isReal(std::string_view text) {
    size_t size = 0;
    while (size < text.size() && isDigit(text[size]))
      ++size;
    if (size == 0 || size == text.size())
      return false;
    return text[size] == '.' || text[size] == 'e' || text[size] == 'E';
  }

  std::string_view skipSpace() {
    while (!rest.empty() && isSpace(rest.front()))
      rest.remove_prefix(1);
    return rest;
  }

  std::string_view rest;
};

std::string readRealOf(Reader &reader, double &value) {
  // A whole number such as `density = 1` is accepted as well.
  std::string wrong;
  if (std::optional<int64_t> whole = reader.whole(wrong)) {
    value = static_cast<double>(*whole);
    return wrong;
  }
  if (std::optional<double> real = reader.real()) {
    value = *real;
    return "";
  }
  return reader.expected("expected floating point literal");
}

std::string readCase(Reader &reader, const CodecParameter &parameter, double &value) {
  const std::string_view word = reader.word();
  if (word.empty())
    return reader.expected("expected valid keyword");
  for (size_t number = 0; number < parameter.cases.size(); ++number)
    if (word == parameter.cases[number].name) {
      value = static_cast<double>(number);
      return "";
    }
  return "expected " + codec_table::choiceOf(codec_table::namesOf(parameter.cases)) + ", got " +
         std::string(word);
}

std::string readValue(Reader &reader, const CodecParameter &parameter, double &value) {
  if (parameter.isFlag) {
    value = 1;
    return "";
  }
  if (!reader.consume('='))
    return reader.expected("expected '='");
  if (parameter.real)
    return readRealOf(reader, value);
  if (!parameter.cases.empty())
    return readCase(reader, parameter, value);
  std::string wrong;
  std::optional<int64_t> whole = reader.whole(wrong);
  value = static_cast<double>(whole.value_or(0));
  return whole ? wrong : reader.expected("expected integer value");
}

/// Reads one `name = value`, or the `name` of a flag.
std::string readParameter(Reader &reader, CodecValues &codec, std::vector<bool> &isGiven) {
  const std::string_view name = reader.word();
  if (name.empty())
    return reader.expected("expected valid keyword");
  std::vector<std::string> names;
  for (size_t i = 0; i < codec.parameters().size(); ++i) {
    const CodecParameter &parameter = codec.parameters()[i];
    names.emplace_back(parameter.name);
    if (name != parameter.name)
      continue;
    if (isGiven[i])
      return "parameter " + std::string(name) + " is given twice";
    isGiven[i] = true;
    return readValue(reader, parameter, codec.values[i]);
  }
  return "expected " + codec_table::choiceOf(names) + ", got " + std::string(name);
}

std::string complete(CodecValues &codec, const std::vector<bool> &isGiven) {
  for (size_t i = 0; i < codec.parameters().size(); ++i) {
    const CodecParameter &parameter = codec.parameters()[i];
    if (isGiven[i])
      continue;
    codec.values[i] = codec.usual(parameter);
    if (parameter.isRequired)
      return "expected " +
             std::string(std::string_view("aeiou").find(parameter.name.front()) != std::string_view::npos
                             ? "an "
                             : "a ") +
             std::string(parameter.name) + ": " +
             codec_table::choiceOf(codec_table::namesOf(parameter.cases)) + ", whichever the step has";
  }
  return checkCodecValues(codec);
}

} // namespace

std::string readReal(std::string_view text, double &value) {
  Reader reader(text);
  return readRealOf(reader, value);
}

std::optional<CodecValues> readParameters(uint32_t family, std::string_view text, std::string &reason) {
  Reader reader(text);
  CodecValues codec = {family};
  std::vector<bool> isGiven(codec.parameters().size(), false);
  if (codec.parameters().empty()) {
    if (reader.consume('<'))
      reason = "expected no parameters";
  } else if (reader.consume('<') && !reader.consume('>')) {
    do {
      reason = readParameter(reader, codec, isGiven);
    } while (reason.empty() && reader.consume(','));
    if (reason.empty() && !reader.consume('>'))
      reason = reader.expected("expected '>'");
  }
  if (reason.empty())
    reason = complete(codec, isGiven);
  if (reason.empty() && !reader.isAtEnd())
    reason = "found trailing characters: '" + std::string(reader.left()) + "'";
  return reason.empty() ? std::optional(codec) : std::nullopt;
}

} // namespace cgx::layers
