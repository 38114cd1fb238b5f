//===-- TreePath.cpp - paths of tensors in a Python tree -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TreePath.h"

#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace cgx;
using llvm::StringRef;

static bool isIdentifierCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Takes `['key']`, `[0]` or `[<flat index 0>]` off the front of `text`, which
/// starts with '['.
static std::optional<TreeKey> consumeSubscript(StringRef &text) {
  text = text.drop_front();
  if (!text.empty() && (text.front() == '\'' || text.front() == '"')) {
    char quote = text.front();
    std::string key;
    size_t i = 1;
    for (; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size())
        ++i;
      key += text[i];
    }
    text = text.drop_front(std::min(i + 1, text.size()));
    if (!text.consume_front("]"))
      return std::nullopt;
    return TreeKey{TreeKey::Kind::Name, std::move(key)};
  }
  size_t end = text.find(']');
  if (end == StringRef::npos)
    return std::nullopt;
  StringRef key = text.take_front(end);
  text = text.drop_front(end + 1);
  if (key.consume_front("<flat index "))
    key = key.rtrim('>');
  return TreeKey{TreeKey::Kind::Index, key.str()};
}

TreePath TreePath::parse(StringRef text) {
  StringRef rest = text.drop_while(isIdentifierCharacter);
  TreePath path{text.drop_back(rest.size()).str(), {}};
  while (!rest.empty()) {
    if (rest.front() == '[') {
      std::optional<TreeKey> key = consumeSubscript(rest);
      if (!key)
        return {text.str(), {}};
      path.keys.push_back(std::move(*key));
      continue;
    }
    StringRef attribute = rest.drop_front().take_while(isIdentifierCharacter);
    if (rest.front() != '.' || attribute.empty())
      return {text.str(), {}};
    path.keys.push_back({TreeKey::Kind::Attribute, attribute.str()});
    rest = rest.drop_front(1 + attribute.size());
  }
  return path;
}

std::string TreePath::getLayerName() const {
  if (keys.empty())
    return root;
  std::string name;
  for (const TreeKey &key : keys) {
    if (!name.empty())
      name += '/';
    name += key.text;
  }
  return name;
}
