//===-- lossless_block.h - The layout of a lossless block -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_ARITHMETIC_LOSSLESS_BLOCK_H
#define CGX_ARITHMETIC_LOSSLESS_BLOCK_H

#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/huffman.h"

namespace cgx::lossless {

constexpr uint32_t blockElements = CGX_LOSSLESS_BLOCK_ELEMENTS;
constexpr uint32_t streamElements = CGX_LOSSLESS_STREAM_ELEMENTS;
constexpr uint32_t blockStreams = blockElements / streamElements;
/// The bytes of the longest stream, as codes have at most 11 bits.
constexpr uint32_t mostStreamBytes = (streamElements * huffmanMostBits + 7) / 8;
/// The mark of a block whose elements are uncompressed. It stands in place of the number of elements that are
/// not zero.
constexpr uint16_t rawMark = 0xffff;

constexpr uint64_t upTo8(uint64_t bytes) { return (bytes + 7) / 8 * 8; }
constexpr uint32_t streamCount(uint64_t elements) { return (elements + streamElements - 1) / streamElements; }

/// A block of a payload that is entropy-coded.
struct Block {
  uint32_t elements, notZero;
  uint16_t streamBytes[blockStreams];
  const uint8_t *mantissas, *streams;
  const uint8_t *low, *rest; ///< set once the mantissas are open

  CGX_DEVICE_INLINE uint32_t inStream(uint32_t stream) const {
    const uint32_t left = elements - stream * streamElements;
    return left < streamElements ? left : streamElements;
  }
};

/// Returns the bits of element i in memory, in the upper half if they are 16.
CGX_DEVICE_INLINE uint32_t bitsAt(cgx_element_type type, const uint8_t *elements, uint64_t i) {
  return type == CGX_F32 ? floatBits(loadF32(elements, i)) : uint32_t(loadBits16(elements, i)) << 16;
}

/// Returns the bytes of the part `low` of a lossless block; plainMantissaBytes() those of `low` and `rest`.
CGX_DEVICE_INLINE uint64_t lowBytes(cgx_element_type type, uint32_t notZero) {
  return type == CGX_F32 ? 2 * uint64_t(notZero) : 0;
}
CGX_DEVICE_INLINE uint64_t plainMantissaBytes(cgx_element_type type, uint32_t notZero) {
  return lowBytes(type, notZero) + notZero;
}
CGX_DEVICE_INLINE void openPlain(cgx_element_type type, Block &block) {
  block.low = block.mantissas;
  block.rest = block.low + lowBytes(type, block.notZero);
}

/// Reads the header of a block that is coded. Returns false if no encoder wrote it. `measure(block, most)`
/// returns the bytes of its mantissas, of which there are at most `most`, or more than `most` if they do not
/// fit.
template <typename Measure>
CGX_DEVICE_INLINE bool readBlock(const uint8_t *begin, uint64_t bytes, uint32_t elements,
                                 const Measure &measure, Block &block) {
  const uint32_t streams = streamCount(elements);
  const uint64_t headerBytes = 2 + 2 * streams;
  if (bytes < headerBytes)
    return false;
  uint16_t header[1 + blockStreams];
  memcpy(header, begin, headerBytes);
  block.elements = elements;
  block.notZero = header[0];
  uint64_t codeBytes = 0;
  for (uint32_t s = 0; s < streams; ++s) {
    block.streamBytes[s] = header[1 + s];
    if (block.streamBytes[s] > mostStreamBytes)
      return false;
    codeBytes += block.streamBytes[s];
  }
  if (block.notZero > elements)
    return false;
  block.mantissas = begin + headerBytes;
  const uint64_t most = bytes - headerBytes, mantissaBytes = measure(block, most);
  if (mantissaBytes > most)
    return false;
  block.streams = block.mantissas + mantissaBytes;
  return upTo8(headerBytes + mantissaBytes + codeBytes) == bytes;
}

/// The measure of lossless blocks, whose mantissas have a fixed size.
struct PlainMeasure {
  cgx_element_type type;
  CGX_DEVICE_INLINE uint64_t operator()(const Block &block, uint64_t /*most*/) const {
    return plainMantissaBytes(type, block.notZero);
  }
};
CGX_DEVICE_INLINE bool readBlock(cgx_element_type type, const uint8_t *begin, uint64_t bytes,
                                 uint32_t elements, Block &block) {
  if (!readBlock(begin, bytes, elements, PlainMeasure{type}, block))
    return false;
  openPlain(type, block);
  return true;
}

CGX_DEVICE_INLINE bool isRaw(const uint8_t *begin) { return loadBits16(begin, 0) == rawMark; }

/// Returns where block `b` begins in the body.
CGX_DEVICE_INLINE uint64_t blockBegin(const uint8_t *body, uint64_t b) {
  uint64_t begin;
  memcpy(&begin, body + 8 * b, sizeof begin);
  return begin;
}

} // namespace cgx::lossless

#endif // CGX_ARITHMETIC_LOSSLESS_BLOCK_H
