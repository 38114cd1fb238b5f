//===-- Tensor.cpp - Element types, shapes and views ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Tensor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace cgx::run;

namespace {

/// The holders of the bits of 16-bit floats, for which C++20 has no types.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

/// Calls `visit` with a value of the C++ type of `type`.
template <typename Visitor> auto dispatch(ElementType type, Visitor visit) {
  switch (type) {
  case CGX_F16:
    return visit(Half{});
  case CGX_BF16:
    return visit(BFloat{});
  case CGX_F64:
    return visit(double{});
  case CGX_I8:
    return visit(int8_t{});
  case CGX_I16:
    return visit(int16_t{});
  case CGX_I32:
    return visit(int32_t{});
  case CGX_I64:
    return visit(int64_t{});
  case CGX_U8:
    return visit(uint8_t{});
  case CGX_U16:
    return visit(uint16_t{});
  case CGX_U32:
    return visit(uint32_t{});
  case CGX_U64:
    return visit(uint64_t{});
  case CGX_BOOL:
    return visit(bool{});
  default:
    return visit(float{});
  }
}

float widen(BFloat value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

float widen(Half value) {
  uint32_t sign = (value.bits & 0x8000u) << 16, exponent = (value.bits >> 10) & 0x1fu,
           mantissa = value.bits & 0x3ffu;
  if (exponent == 0) // zero and subnormals: mantissa * 2^-24
    return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), sign ? -1.0f : 1.0f);
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

template <typename T> T widen(T value) { return value; }

/// Rounds a double to a float with `mantissaBits` and `exponentBits`, to nearest, ties to even. Returns
/// nothing when it overflows.
std::optional<uint16_t> narrow(double value, int exponentBits, int mantissaBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0, top = static_cast<uint16_t>((1 << exponentBits) - 1);
  if (std::isnan(value))
    return sign | top << mantissaBits | 1 << (mantissaBits - 1);
  if (std::isinf(value))
    return sign | top << mantissaBits;
  if (value == 0)
    return sign;
  int exponent = std::max(std::ilogb(value), 1 - bias);
  // In units of the last place; nearbyint rounds ties to even.
  double units = std::nearbyint(std::ldexp(std::fabs(value), mantissaBits - exponent));
  // The implicit bit carries into the exponent field by itself.
  uint32_t bits =
      static_cast<uint32_t>(exponent + bias - 1) * (1u << mantissaBits) + static_cast<uint32_t>(units);
  if (bits >= uint32_t{top} << mantissaBits)
    return std::nullopt;
  return sign | static_cast<uint16_t>(bits);
}

/// Reads one element. A stored bool may be any byte, which a C++ bool may not.
template <typename T> T load(const void *address) {
  T value;
  if constexpr (std::is_same_v<T, bool>)
    value = *static_cast<const unsigned char *>(address) != 0;
  else
    std::memcpy(&value, address, sizeof(value));
  return value;
}

template <typename T> bool parseNumber(std::string_view text, T &value) {
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

template <typename T> constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

template <typename From, typename To> constexpr bool isLossless() {
  if constexpr (std::is_same_v<From, To>)
    return true;
  else if constexpr (kIsSmallFloat<From>)
    return std::is_floating_point_v<To>;
  else if constexpr (kIsSmallFloat<To> || std::is_same_v<To, bool>)
    return false;
  else if constexpr (std::is_floating_point_v<From>)
    return std::is_floating_point_v<To> && sizeof(To) > sizeof(From);
  else // `digits` counts the bits of the magnitude, and those of a float's mantissa
    return std::numeric_limits<To>::digits >= std::numeric_limits<From>::digits &&
           (std::is_signed_v<To> || !std::is_signed_v<From>);
}

} // namespace

std::optional<uint64_t> cgx::run::elementCount(const Shape &shape) {
  // A zero anywhere makes the tensor empty, however large the other dimensions are.
  uint64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0)
      count = 0;
  }
  constexpr uint64_t limit = uint64_t{1} << 60;
  for (int64_t dim : shape)
    if (count != 0 && __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count))
      return std::nullopt;
  return count < limit ? std::optional(count) : std::nullopt;
}

std::string cgx::run::typeString(ElementType type, const Shape &shape) {
  std::string text = elementTypeName(type);
  text += '[';
  for (size_t dim = 0; dim < shape.size(); ++dim)
    text += (dim ? "," : "") + std::to_string(shape[dim]);
  return text + ']';
}

double cgx::run::readScalar(ElementType type, const void *address) {
  if (isNarrow(type))
    return readNarrow(type, *static_cast<const uint8_t *>(address));
  return dispatch(type,
                  [&](auto element) { return static_cast<double>(widen(load<decltype(element)>(address))); });
}

bool cgx::run::parseScalar(ElementType type, std::string_view text, void *address) {
  if (isNarrow(type)) {
    double value;
    std::optional<uint8_t> byte = parseNumber(text, value) ? writeNarrow(type, value) : std::nullopt;
    if (byte)
      std::memcpy(address, &*byte, 1);
    return byte.has_value();
  }
  return dispatch(type, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, bool>) {
      if (text != "true" && text != "false" && text != "1" && text != "0")
        return false;
      element = text == "true" || text == "1";
    } else if constexpr (kIsSmallFloat<T>) {
      double value;
      if (!parseNumber(text, value))
        return false;
      std::optional<uint16_t> bits = type == CGX_BF16 ? narrow(value, 8, 7) : narrow(value, 5, 10);
      if (!bits)
        return false;
      element.bits = *bits;
    } else if (!parseNumber(text, element)) {
      return false;
    }
    std::memcpy(address, &element, sizeof(element));
    return true;
  });
}

bool cgx::run::isLosslessConversion(ElementType from, ElementType to) {
  if (isNarrow(from) || isNarrow(to))
    return from == to || from == typeInFiles(to);
  return dispatch(from, [&](auto source) {
    return dispatch(to,
                    [](auto destination) { return isLossless<decltype(source), decltype(destination)>(); });
  });
}

void cgx::run::convertElements(ElementType from, const void *source, ElementType to, void *destination,
                               uint64_t count) {
  if (from == to || isNarrow(to)) { // files store a narrow type in bytes
    std::memcpy(destination, source, count * elementBytes(from));
    return;
  }
  dispatch(from, [&](auto in) {
    dispatch(to, [&](auto out) {
      if constexpr (isLossless<decltype(in), decltype(out)>() &&
                    !std::is_same_v<decltype(in), decltype(out)>) {
        const auto *read = static_cast<const std::byte *>(source);
        auto *write = static_cast<std::byte *>(destination);
        for (uint64_t i = 0; i < count; ++i) {
          out = static_cast<decltype(out)>(widen(load<decltype(in)>(read + i * sizeof(in))));
          std::memcpy(write + i * sizeof(out), &out, sizeof(out));
        }
      }
    });
  });
}

std::optional<double> cgx::run::findForeignElement(ElementType type, const TensorView &tensor) {
  if (!isNarrow(type))
    return std::nullopt;
  for (std::byte byte : tensor.bytes)
    if (!isNarrowElement(type, static_cast<uint8_t>(byte)))
      return readScalar(tensor.type, &byte);
  return std::nullopt;
}
