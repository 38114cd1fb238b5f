//===-- SourceDepth.cpp - Nesting depth of text -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceDepth.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace {

/// A scanner of the text's tokens that looks at brackets and aliases only.
class DepthScanner {
public:
  explicit DepthScanner(StringRef text) : text(text) {}

  /// Returns the position where the nesting is too deep.
  std::optional<size_t> run() {
    while (at < text.size())
      if (!take())
        return at;
    return std::nullopt;
  }

private:
  /// Takes one token. Returns false where it is nested too deep.
  bool take() {
    const char c = text[at];
    if (c != '-' && !isSpace(c))
      signs = 0;
    switch (c) {
    case '"':
      takeString();
      return true;
    case '/':
      at = text.substr(at).starts_with("//") ? std::min(text.find('\n', at), text.size()) : at + 1;
      return true;
    case '\n':
      if (open.empty())
        defined = nullptr; // a definition ends with its line, unless a bracket is open
      ++at;
      return true;
    case '-':
      if (text.substr(at).starts_with("->")) {
        at += 2;
        return true;
      }
      return ++signs <= cgx::kDeepestNesting && ++at;
    case '#':
    case '!':
      return takeAlias();
    case '(':
    case '[':
    case '{':
      return push(c);
    case '<':
      return text.substr(at).starts_with("<=") ? (at += 2) : push(c);
    case ')':
      return pop('(');
    case ']':
      return pop('[');
    case '}':
      return pop('{');
    case '>':
      return text.substr(at).starts_with(">=") ? (at += 2) : pop('<');
    default:
      ++at;
      return true;
    }
  }

  void takeString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    ++at;
  }

  bool push(char bracket) {
    open.push_back(bracket);
    return note(open.size()) && ++at;
  }

  /// Closes a bracket and those that are open inside it: a comparison sign is no bracket. A closing bracket
  /// without an opening one closes nothing.
  bool pop(char bracket) {
    ++at;
    if (llvm::is_contained(open, bracket))
      while (open.pop_back_val() != bracket) {
      }
    return true;
  }

  /// Takes a definition such as `#a = [#b]`, or a use.
  bool takeAlias() {
    const size_t begin = at++;
    while (at < text.size() && (isAlnum(text[at]) || StringRef("_$.-").contains(text[at])))
      ++at;
    const StringRef name = text.slice(begin, at);
    const StringRef rest = text.substr(at).ltrim(' ');
    if (open.empty() && rest.starts_with("=") && !rest.starts_with("==")) {
      defined = &depths[name];
      return true;
    }
    auto found = depths.find(name);
    return found == depths.end() || note(open.size() + found->second);
  }

  bool note(size_t depth) {
    if (defined)
      *defined = std::max(*defined, depth + 1);
    return depth <= cgx::kDeepestNesting;
  }

  StringRef text;
  size_t at = 0;
  unsigned signs = 0; ///< the number of consecutive minus signs
  SmallVector<char> open;
  StringMap<size_t> depths;  ///< the depth of each alias
  size_t *defined = nullptr; ///< the depth of the alias that is being defined
};

} // namespace

std::optional<size_t> cgx::findDeepNesting(StringRef text) { return DepthScanner(text).run(); }
