//===-- cgx/run/Tensor.h - Element types, shapes and views ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vocabulary of the tool: shapes, and a view of a dense row-major tensor
// somewhere in memory.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_TENSOR_H
#define CGX_RUN_TENSOR_H

#include "cgx/run/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgx::run {

using Shape = std::vector<int64_t>;

/// The most dimensions that a tensor may have: copies keep their position on the stack.
inline constexpr size_t kMaxDimensions = 16;

/// Returns the number of elements. Returns nothing when that number, or the size in bytes with 8-byte
/// elements, does not fit 63 bits, or when a dimension is negative.
std::optional<uint64_t> elementCount(const Shape &shape);

/// Formats a type for messages: `f32[64,128]`, `i32[]`.
std::string typeString(ElementType type, const Shape &shape);

/// A dense, row-major tensor. It does not own the bytes, which need not be aligned to the element type.
struct TensorView {
  std::string name;
  ElementType type = CGX_F32;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Returns the element at `address` as a double, which is inexact only for 64-bit integers beyond 2^53.
double readScalar(ElementType type, const void *address);

/// Writes the number in `text` as one element: decimal, `true`, `false`, `nan`, `inf`. Returns false when the
/// text is malformed or the number does not fit the type.
bool parseScalar(ElementType type, std::string_view text, void *address);

/// Returns true if every value of `from` is a value of `to`, where `from` may be the type in which files
/// store a narrow `to`.
bool isLosslessConversion(ElementType from, ElementType to);

/// Copies `count` elements and converts them. The conversion must be lossless.
void convertElements(ElementType from, const void *source, ElementType to, void *destination, uint64_t count);

/// Returns the first byte of a tensor from a file that is no element of the narrow type `type`, as a number.
/// Returns nothing where all are elements, or the type is not narrow.
std::optional<double> findForeignElement(ElementType type, const TensorView &tensor);

} // namespace cgx::run

#endif // CGX_RUN_TENSOR_H
