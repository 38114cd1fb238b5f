//===-- Window.cpp - Windows that slide over a tensor ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Window.h"
#include "Conversion.h"

using namespace mlir;

namespace cgx {

AffineExpr Window::at(AffineExpr output, AffineExpr place) const {
  if (size == 1)
    return output * stride;
  return output * stride + (reversed ? (size - 1) - place : place) * dilation;
}

SmallVector<Window> windowsOf(ArrayRef<int64_t> sizes, std::optional<ArrayRef<int64_t>> strides,
                              std::optional<DenseIntElementsAttr> padding,
                              std::optional<ArrayRef<int64_t>> baseDilations,
                              std::optional<ArrayRef<int64_t>> windowDilations) {
  SmallVector<int64_t> edges(2 * sizes.size(), 0); // (low, high) for each dimension
  if (padding)
    edges.assign(padding->value_begin<int64_t>(), padding->value_end<int64_t>());
  SmallVector<Window> windows;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    Window window;
    window.size = size;
    window.stride = strides ? (*strides)[dim] : 1;
    window.low = edges[2 * dim];
    window.high = edges[2 * dim + 1];
    window.baseDilation = baseDilations ? (*baseDilations)[dim] : 1;
    window.dilation = windowDilations ? (*windowDilations)[dim] : 1;
    windows.push_back(window);
  }
  return windows;
}

Value paddedFor(ArrayRef<Window> windows, OpBuilder &b, Location loc, Value tensor, Value scalar) {
  SmallVector<int64_t> low, high, interior;
  for (const Window &window : windows) {
    low.push_back(window.low);
    high.push_back(window.high);
    interior.push_back(window.baseDilation - 1);
  }
  return padded(b, loc, tensor, scalar, low, high, interior);
}

} // namespace cgx
