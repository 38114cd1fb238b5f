//===-- Text.cpp - Words in texts -----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Text.h"

#include <numeric>

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

size_t editDistance(std::string_view from, std::string_view to) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t other = diagonal + (lower(from[i]) == lower(to[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({other, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

} // namespace cgx::layers
