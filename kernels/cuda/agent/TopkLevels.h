//===-- TopkLevels.h - A bucket of topk whose elements become levels ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buckets are independent: a warp chooses the elements of a bucket and writes its bytes, or reads them. A
// bucket's bytes may begin at any address.
#ifndef CGX_KERNELS_CUDA_AGENT_TOPKLEVELS_H
#define CGX_KERNELS_CUDA_AGENT_TOPKLEVELS_H

#include "Sparse.h"
#include "cgx/arithmetic/topk_levels.h"

namespace cgx::cuda {

/// One bucket of a descriptor.
struct TopkBucket {
  TopkBucketParts parts;
  uint64_t begin, elements; ///< position and length in the tensor
  uint64_t byte;            ///< offset of its bytes in the body
  uint64_t firstSent;       ///< its first index in the table of positions, which count from the bucket

  CGX_AGENT TopkBucket(const cgx_codec &codec, uint64_t all, uint64_t number)
      : begin(number * codec.bucket), elements(all - begin < codec.bucket ? all - begin : codec.bucket),
        byte(number * cgx_topk_bucket_bytes(&codec, codec.bucket)),
        firstSent(number * cgx_sparse_count(&codec, codec.bucket)) {
    parts = topkBucketParts(codec, elements);
  }
};

/// Returns how many elements all buckets of a tensor send.
CGX_DEVICE_INLINE uint64_t topkLevelsSent(const cgx_codec &codec, uint64_t elements) {
  const uint64_t rest = elements % codec.bucket;
  return elements / codec.bucket * cgx_sparse_count(&codec, codec.bucket) +
         (rest != 0 ? cgx_sparse_count(&codec, rest) : 0);
}

CGX_AGENT cgx_element_type typeOfScales(const cgx_codec &codec) {
  return codec.scale == CGX_SCALE_F32 ? CGX_F32 : CGX_BF16;
}

CGX_AGENT BucketScale loadTopkScale(const cgx_codec &codec, const uint8_t *bytes) {
  const cgx_element_type type = typeOfScales(codec);
  return {loadUnaligned(type, bytes, 0), loadUnaligned(type, bytes, 1)};
}

CGX_AGENT void storeTopkScale(const cgx_codec &codec, uint8_t *bytes, BucketScale scale) {
  const cgx_element_type type = typeOfScales(codec);
  storeUnaligned(type, bytes, 0, scale.minimum);
  storeUnaligned(type, bytes, 1, scale.unit);
}

/// Returns code `index` of `bits` bits, at most 8, from packed codes.
CGX_AGENT uint32_t loadTopkCode(const uint8_t *codes, uint32_t bits, uint64_t index) {
  const uint64_t first = index * bits;
  const uint32_t shift = first % 8;
  uint32_t both = codes[first / 8];
  if (shift + bits > 8)
    both |= uint32_t(codes[first / 8 + 1]) << 8;
  return (both >> shift) & ((1u << bits) - 1u);
}

/// Returns byte `byte` of `count` such codes.
template <typename CodeOf>
CGX_AGENT uint8_t topkCodeByte(uint64_t byte, uint32_t bits, uint64_t count, const CodeOf &codeOf) {
  uint32_t value = 0;
  for (uint64_t i = byte * 8 / bits; i * bits < byte * 8 + 8 && i < count; ++i) {
    const uint32_t code = codeOf(i);
    value |= i * bits >= byte * 8 ? code << (i * bits - byte * 8) : code >> (byte * 8 - i * bits);
  }
  return uint8_t(value);
}

/// Calls take(i, value) for the elements of the tensor that a bucket sends, each on one lane. If the bucket
/// is not finite, calls spoiled(i) for all its elements.
template <typename Warp, typename Spoiled, typename Take>
CGX_AGENT void forEachOfTopkBucket(const Warp &lanes, const cgx_codec &codec, const TopkBucket &bucket,
                                   const uint8_t *body, const uint32_t *positions, float limit,
                                   const Spoiled &spoiled, const Take &take) {
  const uint8_t *bytes = body + bucket.byte;
  const BucketScale scale = loadTopkScale(codec, bytes);
  lanes.forEach([&](uint32_t lane) {
    if (!isFiniteScale(scale)) {
      for (uint64_t i = lane; i < bucket.elements; i += laneCount)
        spoiled(bucket.begin + i);
      return;
    }
    for (uint64_t i = lane; i < bucket.parts.count; i += laneCount)
      take(bucket.begin + positions[bucket.firstSent + i],
           topkValue(scale, loadTopkCode(bytes + bucket.parts.codes, codec.bits, i), limit));
  });
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TOPKLEVELS_H
