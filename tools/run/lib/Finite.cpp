//===-- Finite.cpp - Test for NaN and infinity ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Finite.h"

#include <cmath>
#include <cstring>

using namespace cgx::run;

/// Checks elements of an IEEE format: all bits of the exponent are set in a NaN or infinity. The loop has no
/// branch.
template <typename Bits> static bool isFiniteIn(std::span<const std::byte> bytes, Bits exponent) {
  bool finite = true;
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits word;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    finite &= (word & exponent) != exponent;
  }
  return finite;
}

bool cgx::run::isFinite(ElementType type, std::span<const std::byte> bytes) {
  switch (type) {
  case CGX_F64:
    return isFiniteIn<uint64_t>(bytes, uint64_t{0x7ff} << 52);
  case CGX_F32:
    return isFiniteIn<uint32_t>(bytes, 0x7f800000u);
  case CGX_BF16:
    return isFiniteIn<uint16_t>(bytes, 0x7f80u);
  case CGX_F16:
    return isFiniteIn<uint16_t>(bytes, 0x7c00u);
  default:
    break;
  }
  if (!isFloat(type))
    return true;
  for (size_t i = 0; i < bytes.size(); i += elementBytes(type))
    if (!std::isfinite(readScalar(type, bytes.data() + i)))
      return false;
  return true;
}
