//===-- Glob.cpp - Patterns of layer names --------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Glob.h"

namespace cgx::layers {

namespace {

/// The most alternatives of a pattern; more would take too long to match.
constexpr size_t kMostAlternatives = 1024;

/// A list of alternatives, `{a,b}`, in a pattern.
struct Braces {
  size_t begin = 0, length = 0;
  std::vector<std::string> terms;
};

/// Reads the characters between brackets, `a-cx`. Returns false if a range goes backwards.
bool readCharacters(std::string_view text, std::bitset<256> &characters) {
  while (text.size() >= 3) {
    const auto first = static_cast<uint8_t>(text[0]), last = static_cast<uint8_t>(text[2]);
    if (text[1] != '-') {
      characters.set(first);
      text.remove_prefix(1);
      continue;
    }
    if (first > last)
      return false;
    for (unsigned c = first; c <= last; ++c)
      characters.set(c);
    text.remove_prefix(3);
  }
  for (char c : text)
    characters.set(static_cast<uint8_t>(c));
  return true;
}

std::string findBraces(std::string_view text, std::vector<Braces> &found) {
  bool isOpen = false;
  size_t term = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      i = text.find(']', i + 2);
      if (i == std::string_view::npos)
        return "invalid glob pattern, unmatched '['";
    } else if (c == '\\') {
      if (++i == text.size())
        return "invalid glob pattern, stray '\\'";
    } else if (c == '{') {
      if (isOpen)
        return "nested brace expansions are not supported";
      found.push_back({i, 0, {}});
      isOpen = true;
      term = i + 1;
    } else if (isOpen && (c == ',' || c == '}')) {
      if (c == '}' && found.back().terms.empty())
        return "empty or singleton brace expansions are not supported";
      found.back().terms.emplace_back(text.substr(term, i - term));
      term = i + 1;
      if (c == '}') {
        found.back().length = i - found.back().begin + 1;
        isOpen = false;
      }
    }
  }
  return isOpen ? "incomplete brace expansion" : "";
}

/// Expands a pattern with braces to all patterns for which it stands. Returns what is wrong, or "".
std::string expandBraces(std::string_view text, std::vector<std::string> &patterns) {
  std::vector<Braces> found;
  if (std::string wrong = findBraces(text, found); !wrong.empty())
    return wrong;
  patterns = {std::string(text)};
  size_t count = 1;
  for (const Braces &braces : found)
    if ((count *= braces.terms.size()) > kMostAlternatives)
      return "too many brace expansions";
  // Braces are expanded from the last on, so that the positions of the others stay valid.
  for (auto braces = found.rbegin(); braces != found.rend(); ++braces) {
    std::vector<std::string> expanded;
    for (const std::string &term : braces->terms)
      for (const std::string &pattern : patterns)
        expanded.emplace_back(pattern).replace(braces->begin, braces->length, term);
    patterns = std::move(expanded);
  }
  return "";
}

} // namespace

bool Glob::parseOne(std::string_view text, Tokens &tokens, std::string &reason) {
  for (size_t i = 0; i < text.size(); ++i) {
    Token &token = tokens.emplace_back();
    switch (text[i]) {
    case '*':
      token.isAnyText = true;
      break;
    case '?':
      token.characters.set();
      break;
    case '[': {
      const size_t begin = i + 1, end = text.find(']', begin + 1); // the first character may be ']'
      if (end == std::string_view::npos) {
        reason = "invalid glob pattern, unmatched '['";
        return false;
      }
      const bool isInverse = text[begin] == '^' || text[begin] == '!';
      if (!readCharacters(text.substr(begin + isInverse, end - begin - isInverse), token.characters)) {
        reason = "invalid glob pattern: " + std::string(text);
        return false;
      }
      if (isInverse)
        token.characters.flip();
      i = end;
      break;
    }
    case '\\':
      if (++i == text.size()) {
        reason = "invalid glob pattern, stray '\\'";
        return false;
      }
      [[fallthrough]];
    default:
      token.characters.set(static_cast<uint8_t>(text[i]));
    }
  }
  return true;
}

std::optional<Glob> Glob::parse(std::string_view text, std::string &reason) {
  Glob glob;
  // Everything before the first special character is literal, and is left out of messages.
  const size_t plain = std::min(text.find_first_of("?*[{\\"), text.size());
  std::vector<std::string> patterns;
  if (reason = expandBraces(text.substr(plain), patterns); !reason.empty())
    return std::nullopt;
  for (const std::string &pattern : patterns) {
    Tokens tokens;
    (void)parseOne(text.substr(0, plain), tokens, reason);
    if (!parseOne(pattern, tokens, reason))
      return std::nullopt;
    glob.alternatives.push_back(std::move(tokens));
  }
  return glob;
}

bool Glob::matches(std::string_view name) const {
  for (const Tokens &tokens : alternatives) {
    size_t token = 0, at = 0;
    std::optional<std::pair<size_t, size_t>> retry; // position after the last `*`, and how much it matches
    bool isMatch = true;
    while (isMatch && at < name.size()) {
      if (token < tokens.size() && tokens[token].isAnyText) {
        retry = {++token, at};
      } else if (token < tokens.size() && tokens[token].characters[static_cast<uint8_t>(name[at])]) {
        ++token, ++at;
      } else if (retry) {
        token = retry->first;
        at = ++retry->second;
      } else {
        isMatch = false;
      }
    }
    while (token < tokens.size() && tokens[token].isAnyText)
      ++token;
    if (isMatch && token == tokens.size())
      return true;
  }
  return false;
}

} // namespace cgx::layers
