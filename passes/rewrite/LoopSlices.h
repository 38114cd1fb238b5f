//===-- LoopSlices.h - The slices that loops read in each trip -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_LOOPSLICES_H
#define CGX_PASSES_REWRITE_LOOPSLICES_H

#include "cgx/Passes/StepRuns.h"

#include <optional>
#include <utility>

namespace cgx {

/// Returns whether two values have the same bits: one value, through barriers, equal reshapes and
/// conversions.
bool isSame(mlir::Value a, mlir::Value b);

/// An index in the body of a loop that goes up or down by one with each trip.
struct TripIndex {
  mlir::Value value;
  int64_t first = 0; ///< in the first trip
  bool isFalling = false;
  uint64_t trips = 0;

  int64_t getLowest() const { return isFalling ? first - int64_t(trips) + 1 : first; }
  /// Returns whether both are the same number in each trip.
  bool isSame(const TripIndex &other) const {
    return first == other.first && isFalling == other.isFalling && trips == other.trips;
  }
  /// Returns whether the trips, in any order, have the same numbers.
  bool hasSameNumbers(const TripIndex &other) const {
    return getLowest() == other.getLowest() && trips == other.trips;
  }
};

/// Returns whether two types are the same except for leading dimensions of size 1 of one of them. A slice of
/// one layer is such a tensor before it is reshaped.
bool isSameBehindOnes(mlir::RankedTensorType a, mlir::RankedTensorType b);

/// Returns the index of the slice that `value`, in the body of a loop, is a reshape or
/// conversion of. Nothing where it is not certain that each trip reads another
/// one.
std::optional<TripIndex> getSliceIndex(mlir::Value value);

/// Matches `a` and `b`, in the bodies of two loops of one block: whether they have the same bits in trips
/// whose slices have the same index, as the same functions of slices of a tensor that neither loop changes.
/// Returns the indices of both, or nothing.
std::optional<std::pair<TripIndex, TripIndex>> matchSlices(mlir::Value a, mlir::Value b);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_LOOPSLICES_H
