//===-- TileShapes.h - The descriptors that go through tiles ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_TILESHAPES_H
#define CGX_KERNELS_CUDA_GROUP_TILESHAPES_H

#include "Descriptor.h"
#include "Runs.h"
#include "Tiles.h"
#include "cgx/arithmetic/random.h"

namespace cgx::cuda {

/// A width and a number of bucket rows that kernels are compiled for.
template <uint32_t bits_, uint32_t bucketRows_> struct TileShape {
  static constexpr uint32_t bits = bits_, bucketRows = bucketRows_;
  template <typename Descriptor> bool isOf(const Descriptor &desc) const {
    return desc.tiles.count != 0 && desc.codec.bits == bits && desc.tiles.bucketRows == bucketRows;
  }
};

/// Calls visit(TileShape) for each: buckets of whole tiles, and the default of 128 elements if that is less.
/// With `few`, for sums of contributions and for residuals, only widths that divide a byte; sums of other
/// widths go through memory.
template <bool few, typename Visit> void forEachTileShape(const Visit &visit) {
  visit(TileShape<2, 4>());
  visit(TileShape<2, 8>());
  visit(TileShape<4, 4>());
  visit(TileShape<8, 4>());
  if constexpr (!few) {
    visit(TileShape<1, 4>());
    visit(TileShape<1, 16>());
    visit(TileShape<3, 4>());
    visit(TileShape<3, 16>());
    visit(TileShape<5, 4>());
    visit(TileShape<5, 16>());
    visit(TileShape<6, 4>());
    visit(TileShape<6, 8>());
    visit(TileShape<7, 4>());
    visit(TileShape<7, 16>());
  }
}

/// Returns how many elements of a descriptor go through tiles or runs. They are its first ones.
template <typename Descriptor> uint64_t elementsOfTiles(const Descriptor &desc) {
  if (desc.runs != 0)
    return uint64_t(desc.runs) * runElements;
  return desc.tiles.count == 0 ? 0 : uint64_t(desc.tiles.count) * tileElements(desc.codec.bits);
}

/// Returns the number of runs of a descriptor whose elements begin at `elements`; 0 if the codec is not a
/// cast without scales.
template <typename Descriptor> uint32_t runCount(const Descriptor &desc, const void *elements) {
  const bool isCast = desc.codec.family == CGX_CODEC_CAST && desc.codec.bucket == 0;
  return isCast && reinterpret_cast<uintptr_t>(elements) % 16 == 0 ? uint32_t(desc.elements / runElements)
                                                                   : 0;
}

/// Returns how many elements of a type can be loaded at once: 1, 2 or 4.
inline uint32_t neighborsAt(const void *pointer, cgx_element_type type) {
  const uint64_t place = reinterpret_cast<uintptr_t>(pointer) / cgx_element_bytes(type);
  return place % 4 == 0 ? 4 : place % 2 == 0 ? 2 : 1;
}

/// Returns the same for a residual. Null does not limit it.
inline uint32_t neighborsAt(const KeptResidual &residual) {
  return neighborsAt(residual.values, residual.storage == ResidualStorage::F32    ? CGX_F32
                                      : residual.storage == ResidualStorage::Bf16 ? CGX_BF16
                                                                                  : CGX_I8);
}

inline bool hasOneStream(uint64_t firstElement, uint64_t elements) {
  return firstElement % packingColumns == 0 &&
         randomWordIndex(firstElement) >> 32 == randomWordIndex(firstElement + elements) >> 32;
}

/// Returns the part of a descriptor that goes through tiles; none if its shape or its address does not allow
/// it. `neighbors` is how many of its elements can be loaded at once.
template <bool few, typename Descriptor> TileCounts tileCounts(const Descriptor &desc, uint32_t neighbors) {
  const cgx_codec &codec = desc.codec;
  if (codec.family != CGX_CODEC_QUANTIZE || codec.levels != CGX_LEVELS_UNIFORM || neighbors < 2)
    return {};
  if constexpr (requires { desc.firstElement; })
    if (codec.scaling == CGX_SCALING_L2 || codec.rounding == CGX_ROUND_RANDOM_SHIFT ||
        !hasOneStream(desc.firstElement, desc.elements))
      return {};
  const uint64_t codes = CGX_PAYLOAD_HEADER_BYTES + desc.sections.codes; // payloads are aligned
  if (codes % 4 != 0)
    return {};
  const uint32_t wide = tileElements(codec.bits);
  TileCounts range = {0, codec.bucket < wide ? 4u : tileRows(codec.bits), 0, codes % 8 == 0,
                      neighbors >= tileColumns(codec.bits)};
  if (codec.bucket >= wide) {
    const uint32_t ofBucket = codec.bucket / wide;
    range.ofBucketLog = ofBucket == 4 ? 2 : ofBucket == 2 ? 1 : 0;
    if (codec.bucket != wide << range.ofBucketLog)
      return {};
  } else if (codec.bucket != range.bucketRows * packingColumns) {
    return {};
  }
  bool isCompiled = false;
  forEachTileShape<few>([&](auto shape) {
    isCompiled = isCompiled || (shape.bits == codec.bits && shape.bucketRows == range.bucketRows);
  });
  if (isCompiled)
    range.count = uint32_t(desc.elements / (uint64_t(wide) << range.ofBucketLog)) << range.ofBucketLog;
  return range;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_TILESHAPES_H
