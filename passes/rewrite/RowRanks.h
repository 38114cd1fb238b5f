//===-- RowRanks.h - Sets of ranks, one for each row of a value -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_ROWRANKS_H
#define CGX_PASSES_REWRITE_ROWRANKS_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace cgx {

/// A property of each row of a tensor, its first dimension, by the ranks on which it holds. Loops stack a row
/// in each round; a property that all rows share is kept once.
class RowRanks {
public:
  RowRanks() = default; ///< on no rank
  explicit RowRanks(llvm::BitVector ofAllRows) : rows{std::move(ofAllRows)} {}

  bool isNone() const {
    return std::all_of(rows.begin(), rows.end(), [](const llvm::BitVector &row) { return row.none(); });
  }
  bool isByRow() const { return rows.size() > 1; }

  /// Returns the ranks, of `ranks` ranks, on which it holds of all rows.
  llvm::BitVector ofAll(unsigned ranks) const {
    llvm::BitVector all(ranks, !rows.empty());
    for (const llvm::BitVector &row : rows)
      all &= row;
    return all;
  }
  /// Returns the ranks on which it holds of some row.
  llvm::BitVector ofAny(unsigned ranks) const {
    llvm::BitVector any(ranks);
    for (const llvm::BitVector &row : rows)
      any |= row;
    return any;
  }

  bool has(unsigned row, unsigned rank) const {
    return !rows.empty() && rows[isByRow() ? row : 0].test(rank);
  }
  /// Sets the fact for one row and rank of a value of `count` rows on `ranks` ranks.
  void set(unsigned row, unsigned rank, bool holds, unsigned count, unsigned ranks) {
    spread(count, ranks);
    rows[row][rank] = holds;
  }

  void unite(const RowRanks &other) {
    combine(other, [](llvm::BitVector &to, const llvm::BitVector &from) { to |= from; });
  }
  /// Keeps the rows and ranks for which both hold.
  void intersect(const RowRanks &other) {
    if (other.rows.empty())
      rows.clear();
    else if (!rows.empty())
      combine(other, [](llvm::BitVector &to, const llvm::BitVector &from) { to &= from; });
  }
  /// Returns the same fact restricted to these ranks.
  RowRanks on(const llvm::BitVector &ranks) const {
    RowRanks result = *this;
    for (llvm::BitVector &row : result.rows)
      row &= ranks;
    return result;
  }

private:
  /// Gives each row an entry of its own.
  void spread(unsigned count, unsigned ranks) {
    if (rows.empty())
      rows.emplace_back(ranks);
    if (rows.size() < count)
      rows.resize(count, llvm::BitVector(rows.front()));
  }

  template <typename Function> void combine(const RowRanks &other, Function function) {
    if (other.rows.empty())
      return;
    if (rows.empty())
      rows.emplace_back(other.rows.front().size());
    if (rows.size() < other.rows.size())
      rows.resize(other.rows.size(), llvm::BitVector(rows.front()));
    for (size_t i = 0; i < rows.size(); ++i)
      function(rows[i], other.rows[other.isByRow() ? i : 0]);
  }

  llvm::SmallVector<llvm::BitVector, 1> rows; ///< none, one for all rows, or one for each
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_ROWRANKS_H
