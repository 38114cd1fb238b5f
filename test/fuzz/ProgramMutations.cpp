//===-- test/fuzz/ProgramMutations.cpp - Programs with small mistakes -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes the text of a module where a person or another program would: numbers, shapes, element
// types, operands, ops, attributes. Most results parse, and have to be rejected by verifiers and
// passes. libFuzzer and Mutate.cpp call it.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// A part of the text.
struct Span {
  size_t begin, end;
};

class ProgramMutator {
public:
  ProgramMutator(std::string text, unsigned seed) : text(std::move(text)), random(seed) {}

  std::string run() {
    for (size_t count = 1 + below(3); count > 0; --count)
      (this->*kChanges[below(kChanges.size())])();
    return text;
  }

private:
  using Change = void (ProgramMutator::*)();

  size_t below(size_t end) { return end == 0 ? 0 : random() % end; }

  template <size_t N> std::string_view oneOf(const std::array<std::string_view, N> &choices) {
    return choices[below(N)];
  }

  //===--------------------------------------------------------------------===//
  // Where things are
  //===--------------------------------------------------------------------===//

  /// Returns all spans that `match` finds: it returns the length of what begins at a position, or 0.
  std::vector<Span> findAll(const std::function<size_t(size_t)> &match) const {
    std::vector<Span> spans;
    for (size_t at = 0; at < text.size();) {
      size_t length = match(at);
      if (length)
        spans.push_back({at, at + length});
      at += std::max<size_t>(length, 1);
    }
    return spans;
  }

  bool isWord(size_t at) const {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  }

  size_t wordLength(size_t at, std::string_view more) const {
    size_t end = at;
    while (isWord(end) || (end < text.size() && more.find(text[end]) != std::string_view::npos))
      ++end;
    return end - at;
  }

  std::vector<Span> numbers() const {
    return findAll([&](size_t at) -> size_t {
      if (!std::isdigit(static_cast<unsigned char>(text[at])) ||
          (at > 0 && (isWord(at - 1) || text[at - 1] == '%')))
        return 0;
      size_t end = at;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
        ++end;
      return end - at;
    });
  }

  /// Returns the spans of `tensor<...>` without nested brackets.
  std::vector<Span> types() const {
    return findAll([&](size_t at) -> size_t {
      if (text.compare(at, 7, "tensor<") != 0)
        return 0;
      size_t end = text.find_first_of("<>", at + 7);
      return end != std::string::npos && text[end] == '>' ? end + 1 - at : 0;
    });
  }

  std::vector<Span> values() const {
    return findAll([&](size_t at) { return text[at] == '%' ? 1 + wordLength(at + 1, "#") : 0; });
  }

  std::vector<Span> ops() const {
    return findAll([&](size_t at) -> size_t {
      if (at > 0 && (isWord(at - 1) || text[at - 1] == '.' || text[at - 1] == '#' || text[at - 1] == '!'))
        return 0;
      for (std::string_view dialect : {"stablehlo.", "chlo.", "sdy.", "cgx."})
        if (text.compare(at, dialect.size(), dialect) == 0)
          return wordLength(at, ".");
      return 0;
    });
  }

  std::vector<Span> lines() const {
    return findAll([&](size_t at) -> size_t {
      size_t end = text.find('\n', at);
      return (end == std::string::npos ? text.size() : end + 1) - at;
    });
  }

  /// Returns the spans between commas, in brackets of any kind.
  std::vector<Span> items() const {
    return findAll([&](size_t at) -> size_t {
      if (at == 0 || std::strchr("[{(,", text[at - 1]) == nullptr)
        return 0;
      size_t end = text.find_first_of("[]{}(),\n", at);
      return end == std::string::npos || text[end] == '\n' ? 0 : end - at;
    });
  }

  //===--------------------------------------------------------------------===//
  // Changes
  //===--------------------------------------------------------------------===//

  std::string textOf(Span span) const { return text.substr(span.begin, span.end - span.begin); }

  void replace(Span span, std::string_view with) { text.replace(span.begin, span.end - span.begin, with); }

  /// Replaces one span, or every equal part of the text.
  void replaceSome(Span span, const std::string &with) {
    std::string old = textOf(span);
    if (old.empty() || below(3) == 0)
      return replace(span, with);
    for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size()))
      text.replace(at, old.size(), with);
  }

  std::string anyNumber(const std::string &old) {
    static constexpr std::array<std::string_view, 12> kNumbers = {"0",
                                                                  "1",
                                                                  "-1",
                                                                  "2",
                                                                  "3",
                                                                  "7",
                                                                  "64",
                                                                  "2147483648",
                                                                  "4294967296",
                                                                  "4611686018427387904",
                                                                  "9223372036854775807",
                                                                  "-9223372036854775808"};
    long long number = 0;
    auto [end, error] = std::from_chars(old.data(), old.data() + old.size(), number);
    bool isNumber = error == std::errc() && end == old.data() + old.size();
    if (!isNumber || old.size() > 9 || below(2))
      return std::string(oneOf(kNumbers));
    return std::to_string(number + (below(2) ? 1 : -1));
  }

  void changeNumber() {
    std::vector<Span> found = numbers();
    if (found.empty())
      return;
    Span span = found[below(found.size())];
    replace(span, anyNumber(textOf(span)));
  }

  void changeType() {
    static constexpr std::array<std::string_view, 20> kElements = {
        "f32",    "f64",          "f16",   "bf16", "i1",   "i8",
        "i32",    "i64",          "ui8",   "ui32", "i4",   "f8E4M3FN",
        "f8E5M2", "complex<f32>", "index", "i3",   "i128", "!quant.uniform<i8:f32, 1.0>",
        "tf32",   "f80"};
    std::vector<Span> found = types();
    if (found.empty())
      return;
    Span span = found[below(found.size())];
    std::string type = textOf(span), inner = type.substr(7, type.size() - 8);
    size_t element = inner.rfind('x') == std::string::npos ? 0 : inner.rfind('x') + 1;
    std::string shape = inner.substr(0, element), last = inner.substr(element);
    switch (below(7)) {
    case 0: // another element type
      last = std::string(oneOf(kElements));
      break;
    case 1: // one dimension more
      shape = (below(2) ? "1x" : below(2) ? "0x" : "3x") + shape;
      break;
    case 2: // one dimension less
      shape = shape.substr(shape.find('x') == std::string::npos ? 0 : shape.find('x') + 1);
      break;
    case 3: // another size of a dimension
      if (size_t end = shape.find('x'); end != std::string::npos && end > 0 && shape[0] != '?' && end < 10) {
        std::string size = anyNumber(shape.substr(0, end));
        shape = (size[0] == '-' ? "0" : size) + shape.substr(end);
      }
      break;
    case 4: // one dynamic dimension
      if (size_t end = shape.find('x'); end != std::string::npos)
        shape = "?" + shape.substr(end);
      break;
    case 5: // an unranked tensor
      if (below(4) == 0)
        shape = "*x";
      break;
    default: // the type of another value
      return replaceSome(span, textOf(found[below(found.size())]));
    }
    replaceSome(span, "tensor<" + shape + last + ">");
  }

  void changeOperand() {
    std::vector<Span> found = values();
    if (found.empty())
      return;
    std::string with = textOf(found[below(found.size())]);
    replace(found[below(found.size())], with);
  }

  void changeOp() {
    static constexpr std::array<std::string_view, 16> kOps = {
        "stablehlo.add",     "stablehlo.negate",    "stablehlo.tanh",      "stablehlo.reshape",
        "stablehlo.convert", "stablehlo.compare",   "stablehlo.and",       "stablehlo.abs",
        "stablehlo.reverse", "stablehlo.transpose", "stablehlo.remainder", "stablehlo.real",
        "stablehlo.log",     "stablehlo.not",       "stablehlo.return",    "stablehlo.bitcast_convert"};
    std::vector<Span> found = ops();
    if (found.empty())
      return;
    std::string with = below(2) ? std::string(oneOf(kOps)) : textOf(found[below(found.size())]);
    replace(found[below(found.size())], with);
  }

  void dropLine() {
    std::vector<Span> found = lines();
    if (!found.empty())
      replace(found[below(found.size())], "");
  }

  void dropItem() {
    std::vector<Span> found = items();
    if (found.empty())
      return;
    Span span = found[below(found.size())];
    if (span.end < text.size() && text[span.end] == ',')
      ++span.end;
    replace(span, "");
  }

  void repeatItem() {
    std::vector<Span> found = items();
    if (found.empty())
      return;
    Span span = found[below(found.size())];
    text.insert(span.begin, textOf(found[below(found.size())]) + ", ");
  }

  void flipWord() {
    static constexpr std::array<std::array<std::string_view, 2>, 8> kWords = {{{"true", "false"},
                                                                               {"false", "true"},
                                                                               {"cond", "do"},
                                                                               {"DEFAULT", "HIGHEST"},
                                                                               {"FLOAT", "SIGNED"},
                                                                               {"dense<", "dense_resource<"},
                                                                               {"handle = 1", "handle = 0"},
                                                                               {"public", "private"}}};
    auto [from, to] = kWords[below(kWords.size())];
    if (size_t at = text.find(from, below(text.size() + 1)); at != std::string::npos)
      text.replace(at, from.size(), to);
  }

  static constexpr std::array<Change, 12> kChanges = {
      &ProgramMutator::changeNumber,  &ProgramMutator::changeNumber, &ProgramMutator::changeType,
      &ProgramMutator::changeType,    &ProgramMutator::changeType,   &ProgramMutator::changeOperand,
      &ProgramMutator::changeOperand, &ProgramMutator::changeOp,     &ProgramMutator::dropLine,
      &ProgramMutator::dropItem,      &ProgramMutator::repeatItem,   &ProgramMutator::flipWord};

  std::string text;
  std::mt19937_64 random;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned int seed) {
  std::string text = ProgramMutator(std::string(reinterpret_cast<char *>(data), size), seed).run();
  size_t length = std::min(text.size(), mostBytes);
  std::memcpy(data, text.data(), length);
  return length;
}
