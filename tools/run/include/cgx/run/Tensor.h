//===-- cgx/run/Tensor.h - Element types, shapes and views ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vocabulary of the tool: element types of cgx/codec.h by their two
// spellings (the manifest's `f32`, safetensors' `F32`), shapes, and a view of
// a dense row-major tensor somewhere in memory.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_TENSOR_H
#define CGX_RUN_TENSOR_H

#include "cgx/codec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgx::run {

using ElementType = cgx_element_type;
using Shape = std::vector<int64_t>;

/// Dimensions that a tensor may have: copies keep their position on the stack.
inline constexpr size_t kMaxDimensions = 16;

/// The name in manifests and messages: `f32`.
const char *elementTypeName(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);

/// The name in safetensors files: `F32`.
const char *safetensorsName(ElementType type);
std::optional<ElementType> parseSafetensorsName(std::string_view name);

bool isFloat(ElementType type);

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

/// Whether every value of `from` is a value of `to`.
bool isLosslessConversion(ElementType from, ElementType to);

/// Copies `count` elements and converts them. The conversion must be lossless.
void convertElements(ElementType from, const void *source, ElementType to, void *destination, uint64_t count);

} // namespace cgx::run

#endif // CGX_RUN_TENSOR_H
