//===-- SourceSets.cpp - many sets of small numbers, few different --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceSets.h"

#include "llvm/ADT/bit.h"

using namespace cgx;

SourceSets::SourceSets(unsigned bound) : wordCount(bound / 64 + 1) {
  insert(llvm::SmallVector<uint64_t>(wordCount, 0));
}

SourceSet SourceSets::insert(llvm::ArrayRef<uint64_t> set) {
  auto found = numbers.find(set);
  if (found != numbers.end())
    return found->second;
  auto number = static_cast<SourceSet>(words.size());
  words.push_back(set.copy(storage));
  numbers[words.back()] = number;
  return number;
}

SourceSet SourceSets::getSingle(unsigned source) {
  llvm::SmallVector<uint64_t> set(wordCount, 0);
  set[source / 64] = uint64_t(1) << (source % 64);
  return insert(set);
}

SourceSet SourceSets::combine(Known &known, SourceSet a, SourceSet b,
                              llvm::function_ref<uint64_t(uint64_t, uint64_t)> word) {
  auto [entry, isNew] = known.try_emplace(Pair(a, b));
  if (!isNew)
    return entry->second;
  llvm::SmallVector<uint64_t> set;
  for (unsigned i = 0; i < wordCount; ++i)
    set.push_back(word(words[a][i], words[b][i]));
  return entry->second = insert(set);
}

SourceSet SourceSets::unite(SourceSet a, SourceSet b) {
  if (a == b || b == 0)
    return a;
  if (a == 0)
    return b;
  return combine(unions, std::min(a, b), std::max(a, b), [](uint64_t x, uint64_t y) { return x | y; });
}

SourceSet SourceSets::intersect(SourceSet a, SourceSet b) {
  if (a == b || a == 0)
    return a;
  if (b == 0)
    return b;
  return combine(intersections, std::min(a, b), std::max(a, b), [](uint64_t x, uint64_t y) { return x & y; });
}

SourceSet SourceSets::subtract(SourceSet a, SourceSet b) {
  if (a == 0 || b == 0)
    return a;
  return combine(differences, a, b, [](uint64_t x, uint64_t y) { return x & ~y; });
}

void SourceSets::forEach(SourceSet set, llvm::function_ref<void(unsigned)> visit) const {
  const llvm::ArrayRef<uint64_t> visited = words[set]; // `visit` may add sets
  for (unsigned i = 0; i < wordCount; ++i)
    for (uint64_t word = visited[i]; word != 0; word &= word - 1)
      visit(64 * i + llvm::countr_zero(word));
}
