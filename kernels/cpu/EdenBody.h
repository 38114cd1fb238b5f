//===-- EdenBody.h - The layout of a body of eden ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_EDENBODY_H
#define CGX_KERNELS_CPU_EDENBODY_H

#include "cgx/arithmetic/device.h"
#include "cgx/codec.h"

namespace cgx {

/// The sections of a body, for encoding and decoding.
template <typename Byte> struct EdenSections {
  uint64_t bucket;   ///< elements of each bucket but the last
  uint64_t elements; ///< after the rotation, with the zeros that fill up the last bucket
  Byte *begin, *scales, *levels;

  EdenSections(const cgx_codec &codec, Byte *body, uint64_t given)
      : bucket(codec.bucket), elements(cgx_eden_rotated_elements(&codec, given)), begin(body),
        scales(body + CGX_PAYLOAD_SEED_BYTES),
        levels(scales + cgx_bucket_count(&codec, given) * cgx_scale_bytes(&codec)) {}

  uint64_t seed() const { return loadFrom<uint64_t>(begin); }

  /// Returns the rotated elements of the bucket that begins at `element`.
  uint64_t lengthAt(uint64_t element) const {
    return elements - element < bucket ? elements - element : bucket;
  }
};

} // namespace cgx

#endif // CGX_KERNELS_CPU_EDENBODY_H
