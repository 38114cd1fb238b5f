//===-- OctetShapes.h - Which items go through octets --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_OCTETSHAPES_H
#define CGX_KERNELS_CUDA_GROUP_OCTETSHAPES_H

#include "Item.h"
#include "Octets.h"
#include "cgx/arithmetic/random.h"

namespace cgx::cuda {

/// One pair of widths that kernels are compiled for.
template <uint32_t bits_, uint32_t bucketRows_> struct OctetShape {
  static constexpr uint32_t bits = bits_, bucketRows = bucketRows_;
  template <typename Item> bool isOf(const Item &item) const {
    return item.octets.count != 0 && item.codec.bits == bits && item.octets.bucketRows == bucketRows;
  }
};

/// Calls visit(OctetShape) for each: buckets of whole octets, and the default of 128 elements where that is
/// less. Where sums are encoded, of contributions or with residuals, `few`: the widths that divide a byte;
/// those of others go through memory.
template <bool few, typename Visit> void forEachOctetShape(const Visit &visit) {
  visit(OctetShape<2, 4>());
  visit(OctetShape<2, 8>());
  visit(OctetShape<4, 4>());
  visit(OctetShape<8, 4>());
  if constexpr (!few) {
    visit(OctetShape<1, 4>());
    visit(OctetShape<1, 16>());
    visit(OctetShape<3, 4>());
    visit(OctetShape<3, 16>());
    visit(OctetShape<5, 4>());
    visit(OctetShape<5, 16>());
    visit(OctetShape<6, 4>());
    visit(OctetShape<6, 8>());
    visit(OctetShape<7, 4>());
    visit(OctetShape<7, 16>());
  }
}

/// Elements of an item that go through octets: its first ones.
template <typename Item> uint64_t elementsOfOctets(const Item &item) {
  return item.octets.count == 0 ? 0 : uint64_t(item.octets.count) * octetElements(item.codec.bits);
}

/// Whether two elements of that type can be loaded at once.
inline bool arePairs(const void *pointer, cgx_element_type type) {
  return reinterpret_cast<uintptr_t>(pointer) % (2 * cgx_element_bytes(type)) == 0;
}

/// The same of a residual; of none as well.
inline bool arePairs(const KeptResidual &residual) {
  return arePairs(residual.values, residual.storage == ResidualStorage::F32    ? CGX_F32
                                   : residual.storage == ResidualStorage::Bf16 ? CGX_BF16
                                                                               : CGX_I8);
}

inline bool hasOneStream(uint64_t firstElement, uint64_t elements) {
  return firstElement % packingColumns == 0 &&
         randomWordIndex(firstElement) >> 32 == randomWordIndex(firstElement + elements) >> 32;
}

/// What of an item goes through octets; nothing if its shape or its place in memory do not allow it.
/// `arePairs` says whether its elements lie so that two can be loaded at once.
template <bool few, typename Item> OctetRange octetRange(const Item &item, bool arePairs) {
  const cgx_codec &codec = item.codec;
  if (codec.family != CGX_CODEC_QUANTIZE || codec.levels != CGX_LEVELS_UNIFORM || !arePairs)
    return {};
  if constexpr (requires { item.firstElement; })
    if (codec.scaling == CGX_SCALING_L2 || codec.rounding == CGX_ROUND_RANDOM_SHIFT ||
        !hasOneStream(item.firstElement, item.elements))
      return {};
  const uint64_t codes = CGX_PAYLOAD_HEADER_BYTES + item.sections.codes; // payloads are aligned
  if (codes % 4 != 0)
    return {};
  const uint32_t wide = octetElements(codec.bits);
  OctetRange range = {0, codec.bucket < wide ? 4u : octetRows(codec.bits), 1, codes % 8 == 0};
  if (codec.bucket >= wide) {
    range.ofBucket = codec.bucket / wide;
    if (codec.bucket % wide != 0 || (range.ofBucket != 1 && range.ofBucket != 2 && range.ofBucket != 4))
      return {};
  } else if (codec.bucket != range.bucketRows * packingColumns) {
    return {};
  }
  bool isCompiled = false;
  forEachOctetShape<few>([&](auto shape) {
    isCompiled = isCompiled || (shape.bits == codec.bits && shape.bucketRows == range.bucketRows);
  });
  if (isCompiled)
    range.count = uint32_t(item.elements / (uint64_t(wide) * range.ofBucket)) * range.ofBucket;
  return range;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_OCTETSHAPES_H
