//===-- SourceSets.h - many sets of small numbers, few different ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_SOURCESETS_H
#define CGX_PASSES_IMPORT_SOURCESETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

#include <cstdint>

namespace cgx {

/// A set of sources, as its number among the different sets that there are. 0 is the empty set.
using SourceSet = uint32_t;

/// Sets of numbers below a bound, each kept once. A program has many values and few different sets: equal
/// sets are compared by number, and unions are computed once and then looked up.
class SourceSets {
public:
  explicit SourceSets(unsigned bound);

  SourceSet getSingle(unsigned source);
  SourceSet unite(SourceSet a, SourceSet b);
  SourceSet intersect(SourceSet a, SourceSet b);
  SourceSet subtract(SourceSet a, SourceSet b);

  bool contains(SourceSet set, unsigned source) const {
    return (words[set][source / 64] >> (source % 64)) & 1;
  }
  void forEach(SourceSet set, llvm::function_ref<void(unsigned)> visit) const;

private:
  using Pair = std::pair<SourceSet, SourceSet>;
  using Known = llvm::DenseMap<Pair, SourceSet>;

  SourceSet insert(llvm::ArrayRef<uint64_t> set);
  SourceSet combine(Known &known, SourceSet a, SourceSet b,
                    llvm::function_ref<uint64_t(uint64_t, uint64_t)> word);

  unsigned wordCount;
  llvm::BumpPtrAllocator storage;
  llvm::SmallVector<llvm::ArrayRef<uint64_t>> words;
  llvm::DenseMap<llvm::ArrayRef<uint64_t>, SourceSet> numbers;
  Known unions;
  Known intersections;
  Known differences;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_SOURCESETS_H
