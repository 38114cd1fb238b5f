//===-- Meant.h - The word that was likely meant ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_MEANT_H
#define CGX_PASSES_REWRITE_MEANT_H

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <string>

namespace cgx {

/// The one of `names` that a person who wrote `word` likely meant; empty if none is near.
template <typename Names> std::string findMeant(llvm::StringRef word, const Names &names) {
  std::string best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const auto &name : names) {
    llvm::StringRef candidate = name;
    if (size_t count = word.edit_distance_insensitive(candidate, /*AllowReplacements=*/true, least);
        count < least) {
      least = count;
      best = candidate.str();
    }
  }
  return best;
}

/// The same as what errors end with: " (did you mean 'bits'?)", or nothing.
template <typename Names> std::string askMeant(llvm::StringRef word, const Names &names) {
  std::string meant = findMeant(word, names);
  return meant.empty() ? "" : " (did you mean '" + meant + "'?)";
}

} // namespace cgx

#endif // CGX_PASSES_REWRITE_MEANT_H
