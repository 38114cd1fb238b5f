//===-- cgx/run/ElementType.h - Element types of arguments and results -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments and results of a step have the element types of collectives, and narrower ones of a
// byte each that only the step computes with. Files hold a narrower type under its name where
// safetensors has one; otherwise integers are I8 and U8, and floats are their bits in U8.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_ELEMENTTYPE_H
#define CGX_RUN_ELEMENTTYPE_H

#include "cgx/codec.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cgx::run {

/// The number of an element type: one of cgx_element_type, or a narrower type.
class ElementType {
public:
  constexpr ElementType(cgx_element_type type) : number_(type) {}
  constexpr explicit ElementType(uint32_t number) : number_(number) {}
  constexpr operator uint32_t() const { return number_; }

private:
  uint32_t number_;
};

/// Returns how many element types there are; they are the numbers below this.
uint32_t elementTypeCount();

/// Returns the name in manifests and messages: `f32`, `f8e4m3fn`, `i4`.
const char *elementTypeName(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);

/// Returns the name in safetensors files: `F32`, `F8_E4M3`, `I8`.
const char *safetensorsName(ElementType type);
std::optional<ElementType> parseSafetensorsName(std::string_view name);

/// Returns the type under which files store this type: itself, or that of a byte.
ElementType typeInFiles(ElementType type);

uint64_t elementBytes(ElementType type);
bool isFloat(ElementType type);
/// Returns true if the type is none of cgx_element_type.
bool isNarrow(ElementType type);

/// Returns one element of a narrow type as a number. The byte holds the bits of a float, or the value of an
/// integer.
double readNarrow(ElementType type, uint8_t byte);
/// Returns the byte of the nearest element, ties to even. Returns nothing where the value is out of range, or
/// has a fraction and the type is an integer.
std::optional<uint8_t> writeNarrow(ElementType type, double value);
/// Returns true if the byte holds an element of a narrow type. Not every byte is a float of 4 or 6 bits or a
/// small integer.
bool isNarrowElement(ElementType type, uint8_t byte);

} // namespace cgx::run

#endif // CGX_RUN_ELEMENTTYPE_H
