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

/// A set of axes of the mesh, one bit each, without axes of size 1.
using AxisSet = uint64_t;

/// Answers questions about the grid of ranks.
class Axes {
public:
  /// Uses a mesh; if it has no axes, `ranks` ranks along one axis that is called "rank".
  Axes(Mesh mesh, int64_t ranks);

  /// Returns true if there are more axes than a set holds; then nothing is known of any value.
  bool isTooLarge() const { return mesh.axes.size() > 64; }
  /// Returns all axes of more than one rank.
  AxisSet all() const { return allAxes; }
  const Mesh &getMesh() const { return mesh; }
  const std::vector<int64_t> &getStrides() const { return strides; }

  /// Returns the axes along which two ranks differ.
  AxisSet difference(int64_t rank, int64_t other) const;

  /// Returns the axes along which some ranks of one of `groups` differ: a value that is replicated along them
  /// is equal on the ranks of each group.
  AxisSet varying(const std::vector<std::vector<int64_t>> &groups) const;

  /// Returns the axes that `names` lists, joined by '+'; nothing if one is no axis of more than one rank.
  std::optional<AxisSet> named(std::string_view names) const;

  /// Returns the names of axes, quoted, for a message.
  std::string describe(AxisSet axes) const;

private:
  Mesh mesh;
  AxisSet allAxes = 0;
  std::vector<int64_t> strides;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_AXES_H
