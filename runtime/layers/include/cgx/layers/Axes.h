//===-- Axes.h - Groups of ranks and the axes of the mesh -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_AXES_H
#define CGX_LAYERS_AXES_H

#include "cgx/layers/Table.h"

namespace cgx::layers {

/// A set of axes of the mesh, one bit each. Axes of size 1 do not count.
using AxisSet = uint64_t;

/// Questions about the grid of ranks.
class Axes {
public:
  /// Of a mesh; of one without axes, `ranks` ranks along one that is called "rank".
  Axes(Mesh mesh, int64_t ranks);

  /// More axes than a set holds: nothing can be said of any value.
  bool isTooLarge() const { return mesh.axes.size() > 64; }
  /// All axes of more than one rank.
  AxisSet all() const { return allAxes; }
  const Mesh &getMesh() const { return mesh; }
  const std::vector<int64_t> &getStrides() const { return strides; }

  /// The axes along which two ranks differ.
  AxisSet difference(int64_t rank, int64_t other) const;

  /// The axes along which some ranks of one of `groups` differ: what is replicated along them is equal on the
  /// ranks of each group.
  AxisSet varying(const std::vector<std::vector<int64_t>> &groups) const;

  /// The axes that `names` are, joined by '+'; nothing if one is no axis of more than one rank.
  std::optional<AxisSet> named(std::string_view names) const;

  /// The names of axes, quoted, as for a message.
  std::string describe(AxisSet axes) const;

private:
  Mesh mesh;
  AxisSet allAxes = 0;
  std::vector<int64_t> strides;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_AXES_H
