//===-- bit_plane.h - One bit an element ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit i of a plane is bit i % 8 of its byte i / 8. Bits after the last element are 0.
#ifndef CGX_ARITHMETIC_BIT_PLANE_H
#define CGX_ARITHMETIC_BIT_PLANE_H

#include "cgx/arithmetic/device.h"

namespace cgx {

CGX_DEVICE_INLINE uint64_t planeBytes(uint64_t elements) { return (elements + 7) / 8; }

CGX_DEVICE_INLINE bool loadBit(const uint8_t *plane, uint64_t index) {
  return (plane[index / 8] >> (index % 8)) & 1;
}

/// Sets a bit of a plane that was zero before.
CGX_DEVICE_INLINE void setBit(uint8_t *plane, uint64_t index, bool bit) {
  plane[index / 8] |= uint8_t(uint32_t(bit) << (index % 8));
}

} // namespace cgx

#endif // CGX_ARITHMETIC_BIT_PLANE_H
