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

/// Dimensions that a tensor may have: copies keep their position on the stack.
inline constexpr size_t kMaxDimensions = 16;

/// The number of elements; nothing when it, or its size in bytes for 8-byte
/// elements, does not fit 63 bits, or when a dimension is negative.
std::optional<uint64_t> elementCount(const Shape &shape);

/// For messages: `f32[64,128]`, `i32[]`.
std::string typeString(ElementType type, const Shape &shape);

/// A dense, row-major tensor. The bytes belong to someone else and need not be
/// aligned to the element type.
struct TensorView {
  std::string name;
  ElementType type = CGX_F32;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// The element at `address` as a double; exact but for 64-bit integers beyond 2^53.
double readScalar(ElementType type, const void *address);

/// Writes what `text` says as one element: decimal, `true`, `false`, `nan`,
/// `inf`. False when it is malformed or does not fit the type.
bool parseScalar(ElementType type, std::string_view text, void *address);

/// Whether every value of `from` is a value of `to`; a narrow type takes what files have for it.
bool isLosslessConversion(ElementType from, ElementType to);

/// Copies `count` elements and converts them. The conversion must be lossless.
void convertElements(ElementType from, const void *source, ElementType to, void *destination, uint64_t count);

/// The first byte of a tensor from a file that is no element of the narrow type `type`, as a number; nothing
/// where all are, or the type is not narrow.
std::optional<double> findForeignElement(ElementType type, const TensorView &tensor);

} // namespace cgx::run

#endif // CGX_RUN_TENSOR_H
