//===-- ElementType.cpp - Element types of arguments and results -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/ElementType.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace cgx::run;

namespace {

/// The meaning of the codes of a float format that stand for no number.
enum class Special {
  Ieee,         ///< the greatest exponent is infinity and NaN
  GreatestNaN,  ///< NaN is all ones, of either sign
  MinusZeroNaN, ///< NaN is where -0 would be
  None,
  Exponent, ///< a power of two without sign; all ones are NaN
  Integer,
};

/// The bits of a type below a byte. An integer has only exponent bits.
struct Format {
  int exponentBits, fractionBits, bias;
  Special special;
  bool isSigned = true;
};

struct TypeEntry {
  const char *name, *inFiles;
  uint64_t bytes;
  bool isFloat;
  Format format = {0, 0, 0, Special::None};
};

/// The types in the order of cgx_element_type, followed by the narrow ones.
constexpr std::array kTypes = {
    TypeEntry{"f32", "F32", 4, true},
    TypeEntry{"f16", "F16", 2, true},
    TypeEntry{"bf16", "BF16", 2, true},
    TypeEntry{"f64", "F64", 8, true},
    TypeEntry{"i8", "I8", 1, false},
    TypeEntry{"i16", "I16", 2, false},
    TypeEntry{"i32", "I32", 4, false},
    TypeEntry{"i64", "I64", 8, false},
    TypeEntry{"u8", "U8", 1, false},
    TypeEntry{"u16", "U16", 2, false},
    TypeEntry{"u32", "U32", 4, false},
    TypeEntry{"u64", "U64", 8, false},
    TypeEntry{"bool", "BOOL", 1, false},
    TypeEntry{"f8e4m3fn", "F8_E4M3", 1, true, {4, 3, 7, Special::GreatestNaN}},
    TypeEntry{"f8e5m2", "F8_E5M2", 1, true, {5, 2, 15, Special::Ieee}},
    TypeEntry{"f8e8m0fnu", "F8_E8M0", 1, true, {8, 0, 127, Special::Exponent, /*isSigned=*/false}},
    TypeEntry{"f8e4m3", "U8", 1, true, {4, 3, 7, Special::Ieee}},
    TypeEntry{"f8e4m3b11fnuz", "U8", 1, true, {4, 3, 11, Special::MinusZeroNaN}},
    TypeEntry{"f8e4m3fnuz", "U8", 1, true, {4, 3, 8, Special::MinusZeroNaN}},
    TypeEntry{"f8e5m2fnuz", "U8", 1, true, {5, 2, 16, Special::MinusZeroNaN}},
    TypeEntry{"f8e3m4", "U8", 1, true, {3, 4, 3, Special::Ieee}},
    TypeEntry{"f6e2m3fn", "U8", 1, true, {2, 3, 1, Special::None}},
    TypeEntry{"f6e3m2fn", "U8", 1, true, {3, 2, 3, Special::None}},
    TypeEntry{"f4e2m1fn", "U8", 1, true, {2, 1, 1, Special::None}},
    TypeEntry{"i4", "I8", 1, false, {3, 0, 0, Special::Integer}},
    TypeEntry{"i2", "I8", 1, false, {1, 0, 0, Special::Integer}},
    TypeEntry{"u4", "U8", 1, false, {4, 0, 0, Special::Integer, /*isSigned=*/false}},
    TypeEntry{"u2", "U8", 1, false, {2, 0, 0, Special::Integer, /*isSigned=*/false}}};

int widthOf(const Format &format) {
  return format.exponentBits + format.fractionBits + (format.isSigned ? 1 : 0);
}

double valueOf(const Format &format, uint8_t code) {
  if (format.special == Special::Integer)
    return format.isSigned ? static_cast<int8_t>(code) : code;
  if (format.special == Special::Exponent)
    return code == 0xff ? std::nan("") : std::ldexp(1.0, code - format.bias);
  const int minus = 1 << (widthOf(format) - 1);
  const int magnitude = code & (minus - 1);
  const int exponent = magnitude >> format.fractionBits,
            fraction = magnitude & ((1 << format.fractionBits) - 1);
  const double sign = (code & minus) ? -1.0 : 1.0;
  const bool isLast = exponent == (1 << format.exponentBits) - 1;
  if (format.special == Special::Ieee && isLast)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if ((format.special == Special::GreatestNaN && magnitude == minus - 1) ||
      (format.special == Special::MinusZeroNaN && code == minus))
    return std::nan("");
  const int units = exponent == 0 ? fraction : fraction + (1 << format.fractionBits);
  return sign * std::ldexp(units, std::max(exponent, 1) - format.bias - format.fractionBits);
}

} // namespace

uint32_t cgx::run::elementTypeCount() { return kTypes.size(); }

const char *cgx::run::elementTypeName(ElementType type) { return kTypes[type].name; }

const char *cgx::run::safetensorsName(ElementType type) { return kTypes[type].inFiles; }

std::optional<ElementType> cgx::run::parseElementType(std::string_view name) {
  for (uint32_t type = 0; type < kTypes.size(); ++type)
    if (name == kTypes[type].name)
      return ElementType(type);
  return std::nullopt;
}

std::optional<ElementType> cgx::run::parseSafetensorsName(std::string_view name) {
  for (uint32_t type = 0; type < kTypes.size(); ++type)
    // The entry of a byte stands before the narrow types that share its name.
    if (name == kTypes[type].inFiles)
      return ElementType(type);
  return std::nullopt;
}

ElementType cgx::run::typeInFiles(ElementType type) { return *parseSafetensorsName(safetensorsName(type)); }

uint64_t cgx::run::elementBytes(ElementType type) { return kTypes[type].bytes; }

bool cgx::run::isFloat(ElementType type) { return kTypes[type].isFloat; }

bool cgx::run::isNarrow(ElementType type) { return type >= CGX_ELEMENT_TYPE_COUNT; }

double cgx::run::readNarrow(ElementType type, uint8_t byte) { return valueOf(kTypes[type].format, byte); }

bool cgx::run::isNarrowElement(ElementType type, uint8_t byte) {
  const Format &format = kTypes[type].format;
  const int width = widthOf(format);
  if (format.special == Special::Integer && format.isSigned)
    return std::abs(2 * static_cast<int8_t>(byte) + 1) < 1 << width;
  return byte < 1 << width;
}

std::optional<uint8_t> cgx::run::writeNarrow(ElementType type, double value) {
  const Format &format = kTypes[type].format;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::optional<uint8_t> nearest;
  double distance = infinity, least = infinity, greatest = -infinity;
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<uint8_t>(code);
    const double element = valueOf(format, byte);
    const bool hasSign = std::signbit(element) == std::signbit(value);
    if (!isNarrowElement(type, byte))
      continue;
    if (std::isnan(element) ? std::isnan(value) : element == value && hasSign)
      return byte;
    if (!std::isfinite(element))
      continue;
    const double away = std::fabs(element - value);
    if (away < distance || (away == distance && hasSign && code % 2 == 0)) {
      nearest = byte;
      distance = away;
    }
    least = std::min(least, element);
    greatest = std::max(greatest, element);
  }
  // A value that only rounding would bring into the range does not fit, and neither does a fraction in an
  // integer.
  if (value < least || value > greatest || (format.special == Special::Integer && distance != 0))
    return std::nullopt;
  return nearest;
}
