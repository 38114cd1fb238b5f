//===-- Axes.cpp - Groups of ranks and the axes of the mesh ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Axes.h"

#include "cgx/layers/Text.h"

#include <algorithm>

namespace cgx::layers {

Axes::Axes(Mesh given, int64_t ranks) : mesh(std::move(given)) {
  if (mesh.axes.empty())
    mesh = {{"rank"}, {ranks}};
  strides.assign(mesh.sizes.size(), 1);
  for (size_t axis = mesh.sizes.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * mesh.sizes[axis];
  if (isTooLarge())
    return;
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis)
    if (mesh.sizes[axis] > 1)
      allAxes |= AxisSet(1) << axis;
}

AxisSet Axes::difference(int64_t rank, int64_t other) const {
  AxisSet axes = 0;
  for (size_t axis = 0; axis < strides.size() && axis < 64; ++axis)
    if (rank / strides[axis] % mesh.sizes[axis] != other / strides[axis] % mesh.sizes[axis])
      axes |= AxisSet(1) << axis;
  return axes;
}

AxisSet Axes::varying(const std::vector<std::vector<int64_t>> &groups) const {
  AxisSet axes = 0;
  for (const std::vector<int64_t> &group : groups)
    for (int64_t rank : group)
      axes |= difference(group[0], rank);
  return axes;
}

std::optional<AxisSet> Axes::named(std::string_view names) const {
  AxisSet axes = 0;
  for (const std::string &name : split(names, '+')) {
    const size_t axis = size_t(std::find(mesh.axes.begin(), mesh.axes.end(), name) - mesh.axes.begin());
    if (axis >= 64 || (allAxes & AxisSet(1) << axis) == 0)
      return std::nullopt;
    axes |= AxisSet(1) << axis;
  }
  return axes;
}

std::string Axes::describe(AxisSet axes) const {
  std::vector<std::string> names;
  for (size_t axis = 0; axis < mesh.axes.size() && axis < 64; ++axis)
    if (axes & AxisSet(1) << axis)
      names.push_back("\"" + mesh.axes[axis] + "\"");
  return join(names, ", ");
}

} // namespace cgx::layers
