//===-- collective/Slices.h - A tensor cut along a dimension -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_SLICES_H
#define CGX_RUNTIME_COLLECTIVE_SLICES_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cgx {

/// A tensor seen as [outer, size, inner] around one dimension.
struct DimensionView {
  uint64_t outer = 1;
  uint64_t size = 1;
  uint64_t inner = 1;
};

inline DimensionView viewAround(const std::vector<uint64_t> &shape, uint64_t dim) {
  DimensionView view;
  for (uint64_t i = 0; i < shape.size(); ++i)
    (i < dim ? view.outer : i == dim ? view.size : view.inner) *= shape[i];
  return view;
}

/// A tensor as `count` equal slices of one dimension. A slice on its own is dense.
class Slices {
public:
  Slices(const std::vector<uint64_t> &shape, uint64_t dim, uint64_t count, uint64_t elementBytes)
      : view(viewAround(shape, dim)), count(count), elementBytes(elementBytes) {}

  /// Elements and bytes of one slice.
  uint64_t elements() const { return view.outer * (view.size / count) * view.inner; }
  uint64_t bytes() const { return elements() * elementBytes; }

  /// Returns whether the slices lie one after the other in the tensor, slice k at k * bytes().
  bool contiguous() const { return view.outer == 1; }

  void extract(const std::byte *tensor, uint64_t slice, std::byte *dense) const {
    for (uint64_t row = 0; row < view.outer && run() != 0; ++row)
      std::memcpy(dense + row * run(), tensor + (row * count + slice) * run(), run());
  }

  void insert(const std::byte *dense, uint64_t slice, std::byte *tensor) const {
    for (uint64_t row = 0; row < view.outer && run() != 0; ++row)
      std::memcpy(tensor + (row * count + slice) * run(), dense + row * run(), run());
  }

private:
  /// Bytes of a slice that lie together.
  uint64_t run() const { return view.size / count * view.inner * elementBytes; }

  DimensionView view;
  uint64_t count;
  uint64_t elementBytes;
};

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_SLICES_H
