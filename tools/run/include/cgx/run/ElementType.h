//===-- cgx/run/ElementType.h - What arguments and results hold -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments and results of a step have the element types that collectives carry
// and narrower ones, a byte each, that only the step itself computes with. Files
// hold the narrower ones by their names where safetensors has one, else integers
// as I8 and U8, and floats as their bits in U8.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_ELEMENTTYPE_H
#define CGX_RUN_ELEMENTTYPE_H

#include "cgx/codec.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cgx::run {

/// An element type by its number: one of cgx_element_type, or one that is narrower.
class ElementType {
public:
  constexpr ElementType(cgx_element_type type) : number_(type) {}
  constexpr explicit ElementType(uint32_t number) : number_(number) {}
  constexpr operator uint32_t() const { return number_; }

private:
  uint32_t number_;
};

/// The element types are the numbers below it.
uint32_t elementTypeCount();

/// The name in manifests and messages: `f32`, `f8e4m3fn`, `i4`.
const char *elementTypeName(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);

/// The name in safetensors files: `F32`, `F8_E4M3`, `I8`.
const char *safetensorsName(ElementType type);
std::optional<ElementType> parseSafetensorsName(std::string_view name);

/// The type whose name files have for it: itself, or that of a byte.
ElementType typeInFiles(ElementType type);

uint64_t elementBytes(ElementType type);
bool isFloat(ElementType type);
/// Whether it is none of cgx_element_type.
bool isNarrow(ElementType type);

/// One element of a narrow type as a number; the byte holds bits of a float, or the value of an integer.
double readNarrow(ElementType type, uint8_t byte);
/// The byte of the nearest element, ties to even; nothing where no element is near, or an integer has a
/// fraction.
std::optional<uint8_t> writeNarrow(ElementType type, double value);
/// Whether the byte holds an element of a narrow type: a float of 4 or 6 bits, or a small integer, may not.
bool isNarrowElement(ElementType type, uint8_t byte);

} // namespace cgx::run

#endif // CGX_RUN_ELEMENTTYPE_H
