//===-- Closest.cpp - The word that was probably meant ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/Closest.h"

#include <algorithm>
#include <cstddef>

namespace cgx::formats {

static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Returns the number of letter changes between two words: the optimal string alignment distance.
static size_t changes(std::string_view from, std::string_view to) {
  std::vector<std::vector<size_t>> least(from.size() + 1, std::vector<size_t>(to.size() + 1));
  for (size_t i = 0; i <= from.size(); ++i) {
    for (size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const auto same = [&](size_t one, size_t two) { return lower(from[one - 1]) == lower(to[two - 1]); };
      const size_t other = same(i, j) ? 0 : 1;
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j))
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[from.size()][to.size()];
}

std::string closest(std::string_view word, const std::vector<std::string> &candidates) {
  constexpr size_t longest = 256; // a longer text is no mistyped name
  std::string best;
  if (word.size() > longest)
    return best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string &candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter >= least || longer > longest)
      continue; // skips words whose lengths differ too much, before comparing letters
    if (const size_t count = changes(word, candidate); count < least) {
      least = count;
      best = candidate;
    }
  }
  return best;
}

std::string askMeant(std::string_view word, const std::vector<std::string> &candidates) {
  const std::string best = closest(word, candidates);
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

} // namespace cgx::formats
