//===-- Glob.h - Patterns of layer names ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_GLOB_H
#define CGX_LAYERS_GLOB_H

#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgx::layers {

/// A pattern of layer names: `*` matches any text, `?` any character, `[a-f]` one of some and `[^a-f]` one of
/// the others, `{l1,l2}` one of some texts, and a backslash makes the next character literal.
class Glob {
public:
  /// Parses a pattern; `reason` tells why a text is none.
  static std::optional<Glob> parse(std::string_view text, std::string &reason);

  bool matches(std::string_view name) const;

private:
  /// A part of the pattern that stands for one character of a name, or for any text.
  struct Token {
    bool isAnyText = false;
    std::bitset<256> characters;
  };
  using Tokens = std::vector<Token>;

  static bool parseOne(std::string_view text, Tokens &tokens, std::string &reason);

  std::vector<Tokens> alternatives;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_GLOB_H
