//===-- Text.cpp - Functions for text -------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Text.h"

#include <algorithm>

namespace cgx::layers {

std::string_view trim(std::string_view text) {
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

std::pair<std::string_view, std::string_view> splitAt(std::string_view text, char at) {
  const size_t place = text.find(at);
  if (place == std::string_view::npos)
    return {text, {}};
  return {text.substr(0, place), text.substr(place + 1)};
}

bool consumeFront(std::string_view &text, std::string_view front) {
  if (!text.starts_with(front))
    return false;
  text.remove_prefix(front.size());
  return true;
}

bool consumeBack(std::string_view &text, std::string_view back) {
  if (!text.ends_with(back))
    return false;
  text.remove_suffix(back.size());
  return true;
}

std::string join(const std::vector<std::string> &words, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "" : between).append(words[i]);
  return text;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(at, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos)
      return parts;
    begin = end + 1;
  }
}

std::string withDashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string withUnderscores(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

} // namespace cgx::layers
