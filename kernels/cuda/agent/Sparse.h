//===-- Sparse.h - Data between the steps of sparse codecs ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are chosen in chunks, whose counts are added up, so that each chosen element knows its rank among
// all. Positions are then stored in a table, from which every byte of the coded positions can be computed
// independently.
#ifndef CGX_KERNELS_CUDA_AGENT_SPARSE_H
#define CGX_KERNELS_CUDA_AGENT_SPARSE_H

#include "Envelope.h"
#include "Input.h"
#include "cgx/arithmetic/strata.h"

namespace cgx::cuda {

/// The number of elements that a warp counts together. Coded positions take at most one bit an element, so
/// the bytes of a chunk are an eighth of it.
constexpr uint64_t chunkElements = 1024;
constexpr uint64_t chunkBytes = chunkElements / 8;

CGX_DEVICE_INLINE uint64_t chunkCount(uint64_t elements) {
  return (elements + chunkElements - 1) / chunkElements;
}

/// The digits of magnitudes, from the highest: 11, 11 and 9 bits.
constexpr uint32_t digitCount = 1u << 11;
constexpr uint32_t passCount = 3;

CGX_DEVICE_INLINE constexpr uint32_t digitShift(uint32_t pass) { return pass == 0 ? 20 : pass == 1 ? 9 : 0; }
CGX_DEVICE_INLINE constexpr uint32_t digitBits(uint32_t pass) { return pass == 2 ? 9 : 11; }

/// The choice of elements, as far as it is known.
struct Selection {
  uint32_t magnitude; ///< topk: the smallest magnitude that is sent
  uint32_t ties;      ///< topk: how many elements of that magnitude are sent, the first ones
  uint64_t count;     ///< the number of elements that are sent
  uint32_t spoiled;   ///< randk: an element is not finite
};

/// The counts of a chunk; after the scan, of all chunks before it.
struct ChunkCount {
  uint32_t above, ties;

  CGX_AGENT ChunkCount operator+(ChunkCount other) const { return {above + other.above, ties + other.ties}; }
};

/// The workspace of one descriptor, in the tables of its group.
struct SparseWorkspace {
  Selection *selection;
  uint32_t *histogram; ///< topk: digitCount counters
  uint32_t *cuts;      ///< adaptive_threshold: the smallest magnitude that each bucket sends
  ChunkCount *chunks;
  uint32_t *positions;
  uint64_t chunkCount;
};

/// The places where a body's parts begin, from the body's beginning.
struct SparseParts {
  uint64_t positions, values;
};

CGX_DEVICE_INLINE bool isThreshold(const cgx_codec &codec) {
  return codec.family == CGX_CODEC_THRESHOLD || codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD;
}

/// Returns whether a codec is topk with levels in buckets (TopkLevels.h).
CGX_DEVICE_INLINE bool isTopkLevels(const cgx_codec &codec) {
  return codec.family == CGX_CODEC_TOPK && codec.bits != 0;
}

CGX_AGENT SparseParts partsOf(const cgx_codec &codec, uint64_t elements, uint64_t count) {
  if (codec.family == CGX_CODEC_RANDK)
    return {4, 12};
  const uint64_t positions = isThreshold(codec) ? 8 : 4;
  return {positions, positions + (count ? cgx_position_bytes(elements, count) : 0)};
}

/// Loads an element at any address, because values of sparse payloads need not be aligned.
CGX_AGENT float loadUnaligned(cgx_element_type type, const uint8_t *values, uint64_t index) {
  const uint8_t *from = values + index * (type == CGX_F32 ? 4 : 2);
  if (type == CGX_F32)
    return floatFromBits(from[0] | uint32_t(from[1]) << 8 | uint32_t(from[2]) << 16 |
                         uint32_t(from[3]) << 24);
  const uint16_t bits = uint16_t(from[0] | from[1] << 8);
  return type == CGX_F16 ? floatFromFloat16(bits) : floatFromBfloat16(bits);
}

CGX_AGENT void storeUnaligned(cgx_element_type type, uint8_t *values, uint64_t index, float value) {
  const uint32_t bytes = type == CGX_F32 ? 4 : 2;
  const uint32_t bits = type == CGX_F32   ? floatBits(value)
                        : type == CGX_F16 ? float16FromFloat(value)
                                          : bfloat16FromFloat(value);
  for (uint32_t i = 0; i < bytes; ++i)
    values[index * bytes + i] = uint8_t(bits >> (8 * i));
}

/// The coded positions of topk and threshold (Positions.h), seen from one byte or bit.
class CodedPositions {
public:
  CGX_AGENT CodedPositions(uint64_t elements, uint64_t count)
      : elements(elements), count(count), isBitmap(cgx_positions_are_bitmap(elements, count)),
        lowBits(cgx_position_low_bits(elements, count)),
        lowBytes(isBitmap ? 0 : cgx_position_low_bytes(elements, count)) {}

  CGX_AGENT uint64_t bytes() const { return cgx_position_bytes(elements, count); }
  /// Returns where the bytes begin in which each position sets a bit.
  CGX_AGENT uint64_t highBegin() const { return lowBytes; }

  /// Returns a byte of the code, from the positions in their order.
  CGX_AGENT uint8_t byteAt(uint64_t byte, const uint32_t *positions) const {
    return byte < lowBytes ? lowByte(byte, positions) : highByte((byte - lowBytes) * 8, positions);
  }

  /// Returns the position of which the `rank`-th set bit is `bit`.
  CGX_AGENT uint64_t positionOf(uint64_t rank, uint64_t bit, const uint8_t *coded) const {
    if (isBitmap)
      return bit;
    uint64_t low = 0;
    for (uint32_t i = 0; i < lowBits; ++i) {
      const uint64_t at = rank * lowBits + i;
      low |= uint64_t((coded[at / 8] >> (at % 8)) & 1) << i;
    }
    return ((bit - rank) << lowBits) | low;
  }

private:
  CGX_AGENT uint8_t lowByte(uint64_t byte, const uint32_t *positions) const {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      const uint64_t at = byte * 8 + i;
      if (at < count * lowBits)
        bits |= ((positions[at / lowBits] >> (at % lowBits)) & 1) << i;
    }
    return uint8_t(bits);
  }

  CGX_AGENT uint64_t bitOf(uint64_t rank, const uint32_t *positions) const {
    return isBitmap ? positions[rank] : (positions[rank] >> lowBits) + rank;
  }

  /// Returns bits [begin, begin + 8). They rise with the rank, so the first one is found by binary search.
  CGX_AGENT uint8_t highByte(uint64_t begin, const uint32_t *positions) const {
    uint64_t low = 0, high = count;
    while (low < high) {
      const uint64_t middle = (low + high) / 2;
      if (bitOf(middle, positions) < begin)
        low = middle + 1;
      else
        high = middle;
    }
    uint32_t bits = 0;
    for (; low < count && bitOf(low, positions) < begin + 8; ++low)
      bits |= 1u << (bitOf(low, positions) - begin);
    return uint8_t(bits);
  }

  uint64_t elements, count;
  bool isBitmap;
  uint32_t lowBits;
  uint64_t lowBytes;
};

/// Returns the value of elements that were not sent: 0, or NaN, in codecs where all of them share one value.
CGX_AGENT float restOf(const cgx_codec &codec, const uint8_t *body) {
  if (isThreshold(codec) || isTopkLevels(codec))
    return 0.0f;
  return loadFrom<float>(body) == 0.0f ? 0.0f : quietNan();
}

/// Calls take(position, values, i) for the elements that a payload sends: its i-th value is that of the
/// element at this position.
template <typename ThreadBlock, typename Descriptor, typename Take>
CGX_AGENT void forEachSent(const ThreadBlock &threads, const Descriptor &desc, const uint8_t *body,
                           const SparseWorkspace &workspace, TileRange range, const Take &take) {
  const uint64_t sent = workspace.selection->count, end = range.end < sent ? range.end : sent;
  const uint8_t *values = body + partsOf(desc.codec, desc.elements, sent).values;
  const bool isDrawn = desc.codec.family == CGX_CODEC_RANDK;
  const RandomStream stream = makeRandomStream(RandomKey{isDrawn ? loadWord(body + 4) : 0}, 0);
  threads.forEachIndex(range.begin, end, [&](uint64_t i) {
    take(isDrawn ? drawPosition(stream, desc.elements, sent, i) : workspace.positions[i], values, i);
  });
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_SPARSE_H
