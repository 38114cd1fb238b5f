//===-- HloSharding.h - distributions as HLO writes them --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_HLOSHARDING_H
#define CGX_PASSES_IMPORT_HLOSHARDING_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

namespace cgx {

/// The tiling of a tensor over devices, from `mhlo.sharding`. Devices are numbered in the order of an iota
/// after a reshape and a transposition:
///
///   {replicated}
///   {devices=[4,1]<=[4]}                                      rows over 4 devices
///   {devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}    columns over the minor axis
struct HloSharding {
  /// Neighbouring pieces along a dimension are on devices that differ by `stride`.
  struct Factor {
    int64_t size;
    int64_t stride;
  };
  /// The factors that split each dimension, major first. None if replicated.
  llvm::SmallVector<llvm::SmallVector<Factor>> dimensions;
  /// The devices of the sharding; 1 if the text does not say.
  int64_t devices = 1;

  /// Parses a sharding. Returns nothing for those that a per-rank program cannot have, such as `{manual}` or
  /// lists of devices in no order.
  static std::optional<HloSharding> parse(llvm::StringRef text);
  /// Returns the elements of `{{replicated}, {devices=[4]<=[4]}}`, which is a tuple of shardings,
  /// or the one sharding that it is.
  static llvm::SmallVector<llvm::StringRef> splitTuple(llvm::StringRef text);

  /// Returns the sizes of the axes, major first, along which all of some shardings over `devices` split: the
  /// fewest. Nothing if there are none.
  static std::optional<llvm::SmallVector<int64_t>> findAxes(llvm::ArrayRef<HloSharding>, int64_t devices);

  /// Returns this sharding by the axes of a mesh whose devices are in order; null if it splits a dimension
  /// otherwise than along whole axes.
  ShardingAttr overMesh(MeshAttr mesh, int64_t rank) const;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_HLOSHARDING_H
