//===-- kernels/cpu/LosslessBody.h - Blocks of entropy-coded exponents ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file encodes and decodes lossless bodies around the loops over a block. Each instruction set has its
// own `Loops`:
//
//   Encoder(code), Decoder(code, elements): the lookup tables of the two loops over codes.
//   Counter(type, isPruned), add(elements, count), counts(): counts the exponents of runs of elements. If
//     these are pruned, elements with the exponent 0 count as zeros.
//   narrow(type, values, count, elements): converts f32 values to elements of 16 bits.
//   encodeStreams(encoder, symbols, count, ahead, streams, bytes): writes the codes of a block's symbols, a
//     stream after the other, and up to `codeSlack` bytes after them. Sets `bytes` to the bytes of each
//     stream and returns their sum.
//   decodeStreams(decoder, block, symbols): returns false if a stream's bytes do not match its symbols, or
//     the number of elements that are not zero does not match the block's header.
//   merge(type, code, block, opened, symbols, isStreamed, ahead, elements): puts elements together again.
//   isStreamed(type, elements, output): returns whether so many elements bypass the cache as they are
//     written; then flush() makes them visible to other threads.
//   isPayloadStreamed(bytes): returns the same for the payload of so many bytes of elements.
//   storeLines(lines, count, out): stores lines of `lineBytes` that are aligned, for such payloads.
//   accumulate(type, elements, count, accumulator): adds elements to an f32 accumulator.
//
// Families differ in how a block stores sign and mantissa of its elements. Each has its own `Mantissas`,
// which is made of loops too:
//
//   isPruned(type): returns whether elements with the exponent 0 are coded as zeros of their sign.
//   Parts: the parts of a block, with `symbols` and `notZero`, the number of elements that are not zero.
//   split(begin, count, elements, code, out, parts): splits the block that begins with element `begin` of
//     the input; parts may be stored at `out` already. False if an exponent has no code.
//   raw(elements, count, parts): returns the elements of a block after split(), as they are to be coded.
//   measure(parts): returns the bytes that these parts take in the block.
//   write(parts, out): writes them to the `out` that split() was given, and returns their end.
//   measureWritten(arguments, block, most): returns the same for a block that is decoded, of which at most
//     `most` bytes follow `block.mantissas`; more than `most` if no encoder wrote it.
//   mostBytes: the most bytes that these parts take in a block.
//   Opened, open(arguments, block, opened): gives sign and mantissa of elements that are not zero, in order;
//     loops may read past their end. `opened.at(type, i)` returns the 24 bits of one.
#ifndef CGX_KERNELS_CPU_LOSSLESSBODY_H
#define CGX_KERNELS_CPU_LOSSLESSBODY_H

#include "CodecFamily.h"
#include "cgx/arithmetic/exponent_code.h"
#include "cgx/arithmetic/lossless_block.h"

namespace cgx::lossless {

/// The number of bytes that loops may write after the end of codes, and after the end of parts.
constexpr uint32_t codeSlack = 64, partSlack = 64;
/// The number of bytes that loops may read after the end of a block.
constexpr uint32_t readSlack = 4096;
static_assert(readSlack > mostStreamBytes + 8);

/// A prefetch of the next block. Loops that seldom use memory prefetch a share of it with each row of
/// elements, because memory takes only a few requests at a time.
class Ahead {
public:
  static constexpr uint32_t rowElements = 16;

  Ahead(const uint8_t *begin, uint64_t bytes)
      : at(reinterpret_cast<uintptr_t>(begin)),
        each((bytes * rowElements + blockElements - 1) / blockElements) {}

  CGX_DEVICE_INLINE void ask() {
    __builtin_prefetch(reinterpret_cast<const void *>(at), /*rw=*/0, /*locality=*/2);
    at += each;
  }

private:
  uintptr_t at; ///< no pointer, because it may come to lie past the end
  uint64_t each;
};

/// The symbols of a block, and the parts of its elements that are not zero, in order.
struct PlainParts {
  alignas(64) uint8_t symbols[blockElements + partSlack];
  uint8_t *low;  ///< f32: the lowest 16 bits
  uint8_t *rest; ///< stored where it belongs if no element is zero
  uint32_t notZero;
};

/// The symbols of a block, by stream.
struct Symbols {
  uint8_t of[blockStreams][streamElements + partSlack];
};

/// The mantissas of a block, which stay where they were written.
struct PlainOpened {
  const uint8_t *low, *rest;

  uint32_t at(cgx_element_type type, uint32_t i) const {
    return uint32_t(rest[i]) << 16 | (type == CGX_F32 ? loadBits16(low, i) : 0);
  }
};

/// The mantissas of lossless: sign and mantissa of all elements, first the lowest 16 bits of all, then the
/// rest of all. Its loops provide
///
///   split(type, elements, count, code, parts): splits elements. False if an exponent has no code.
template <typename Loops> class PlainMantissas {
public:
  using Parts = PlainParts;

  explicit PlainMantissas(const EncodeArguments &arguments) : type(arguments.type) {}

  static constexpr bool isPruned(cgx_element_type /*type*/) { return false; }

  bool split(uint64_t /*begin*/, uint32_t count, const uint8_t *elements, const ExponentCode &code,
             uint8_t *out, Parts &parts) const {
    // `rest` lies after whole vectors of `low`, which may reach past the last element.
    const uint32_t most = (count + Ahead::rowElements - 1) / Ahead::rowElements * Ahead::rowElements;
    parts.low = out;
    parts.rest = out + lowBytes(type, most);
    return Loops::split(type, elements, count, code, parts);
  }

  const uint8_t *raw(const uint8_t *elements, uint32_t /*count*/, const Parts &) const { return elements; }

  uint64_t measure(const Parts &parts) const { return plainMantissaBytes(type, parts.notZero); }

  uint8_t *write(const Parts &parts, uint8_t *out) const {
    out += lowBytes(type, parts.notZero);
    if (out != parts.rest)
      memmove(out, parts.rest, parts.notZero);
    return out + parts.notZero;
  }

  static uint64_t measureWritten(const DecodeArguments &arguments, const Block &block, uint64_t /*most*/) {
    return plainMantissaBytes(arguments.type, block.notZero);
  }

  static constexpr uint32_t mostBytes = 3 * blockElements;

  using Opened = PlainOpened;

  static void open(const DecodeArguments &arguments, Block &block, Opened &opened) {
    openPlain(arguments.type, block);
    opened = {block.low, block.rest};
  }

private:
  cgx_element_type type;
};

/// Writes a block whose elements stay uncompressed, and returns its bytes.
inline uint64_t writeRaw(const uint8_t *elements, uint64_t bytes, uint8_t *block) {
  const uint16_t header[4] = {rawMark};
  memcpy(block, header, sizeof header);
  memcpy(block + sizeof header, elements, bytes);
  memset(block + sizeof header + bytes, 0, upTo8(bytes) - bytes);
  return sizeof header + upTo8(bytes);
}

constexpr uint64_t lineBytes = 64;

/// The destination of blocks, one after the other. They are written at once, or else collected into whole
/// lines that bypass the cache, so that memory need not be read first.
template <typename Loops> class BlockSink {
public:
  BlockSink(uint8_t *out, bool isStreamed)
      : begin(isStreamed ? reinterpret_cast<uintptr_t>(out) % lineBytes : 0), out(out - begin), used(begin),
        isStreamed(isStreamed) {}

  /// Returns space for a block of so many elements, and for the bytes that loops write after its parts.
  uint8_t *next(uint32_t count) {
    isShort = count < blockElements;
    return isStreamed || isShort ? lines + used : out;
  }

  /// Records that so many bytes were written there.
  void advance(uint64_t bytes) {
    if (!isStreamed) {
      if (isShort)
        memcpy(out, lines, bytes);
      out += bytes;
      return;
    }
    used += bytes;
    if (used < lineBytes)
      return;
    if (begin != 0) // the start of the line belongs to others
      memcpy(out + begin, lines + begin, lineBytes - begin);
    const uint64_t skipped = begin != 0 ? lineBytes : 0, whole = used / lineBytes * lineBytes;
    Loops::storeLines(lines + skipped, (whole - skipped) / lineBytes, out + skipped);
    memcpy(lines, lines + whole, lineBytes);
    out += whole;
    used -= whole;
    begin = 0;
  }

  void finish() {
    if (!isStreamed)
      return;
    memcpy(out + begin, lines + begin, used - begin);
    Loops::flush();
  }

private:
  alignas(lineBytes) uint8_t lines[lineBytes + 8 + 4 * blockElements + lineBytes];
  uint64_t begin; ///< offset in the first line of the bytes that are not yet in memory
  uint8_t *out;   ///< the address of the first line
  uint64_t used;
  bool isStreamed, isShort = false;
};

template <typename Loops, typename Mantissas>
uint64_t encodeBlock(cgx_element_type type, uint64_t begin, const uint8_t *elements, uint32_t count,
                     const ExponentCode &code, const typename Loops::Encoder &encoder, const Ahead &ahead,
                     typename Mantissas::Parts &parts, Mantissas &mantissas, uint8_t *block) {
  const uint64_t rawBytes = count * cgx_element_bytes(type);
  const uint64_t headerBytes = 2 + 2 * streamCount(count);
  if (!mantissas.split(begin, count, elements, code, block + headerBytes, parts))
    return writeRaw(mantissas.raw(elements, count, parts), rawBytes, block);
  uint8_t streams[blockStreams * mostStreamBytes + codeSlack];
  uint16_t header[1 + blockStreams] = {uint16_t(parts.notZero)};
  const uint64_t codeBytes = Loops::encodeStreams(encoder, parts.symbols, count, ahead, streams, header + 1);
  const uint64_t bytes = headerBytes + mantissas.measure(parts) + codeBytes;
  if (upTo8(bytes) >= cgx_lossless_raw_block_bytes(type, count))
    return writeRaw(mantissas.raw(elements, count, parts), rawBytes, block);
  memcpy(block, header, headerBytes);
  uint8_t *out = mantissas.write(parts, block + headerBytes);
  memcpy(out, streams, codeBytes);
  memset(out + codeBytes, 0, upTo8(bytes) - bytes);
  return upTo8(bytes);
}

template <typename Loops, typename Mantissas> uint64_t encodeBody(const EncodeArguments &arguments) {
  const cgx_element_type type = arguments.type;
  const auto *input = static_cast<const uint8_t *>(arguments.input);
  const uint64_t elementBytes = cgx_element_bytes(type),
                 blocks = cgx_lossless_block_count(arguments.elements);
  const bool narrows = bytesOf(arguments.source) != elementBytes;
  Mantissas mantissas(arguments);
  uint8_t narrowed[2 * blockElements];
  const auto elementsAt = [&](uint64_t begin, uint32_t count) -> const uint8_t * {
    const uint8_t *given = input + begin * bytesOf(arguments.source);
    if (!narrows)
      return given;
    Loops::narrow(type, given, count, narrowed);
    return narrowed;
  };
  typename Loops::Counter counter(type, Mantissas::isPruned(type));
  const ExponentCode code = makeExponentCode(arguments.elements, counter, elementsAt);
  const typename Loops::Encoder encoder(code);
  uint8_t *const table = arguments.body + 8 * blocks;
  writeExponentCode(code, table);
  uint64_t end = 8 * blocks + tableBytes(code.symbols);
  BlockSink<Loops> sink(arguments.body + end, Loops::isPayloadStreamed(arguments.elements * elementBytes));
  typename Mantissas::Parts parts;
  for (uint64_t b = 0; b < blocks; ++b) {
    const uint64_t begin = b * blockElements;
    const auto count = uint32_t(std::min<uint64_t>(blockElements, arguments.elements - begin));
    memcpy(arguments.body + 8 * b, &end, sizeof end);
    const uint64_t bytes = count * bytesOf(arguments.source);
    const Ahead ahead(input + begin * bytesOf(arguments.source) + bytes, bytes);
    const uint8_t *elements = elementsAt(begin, count);
    const uint64_t blockBytes = encodeBlock<Loops>(type, begin, elements, count, code, encoder, ahead, parts,
                                                   mantissas, sink.next(count));
    sink.advance(blockBytes);
    end += blockBytes;
  }
  sink.finish();
  return end;
}

template <typename Mantissas> auto measureWith(const DecodeArguments &arguments) {
  return [&arguments](const Block &block, uint64_t most) {
    return Mantissas::measureWritten(arguments, block, most);
  };
}

/// Returns whether blocks follow each other from `begin` to the end of the body, and have correct headers.
template <typename Mantissas> bool areBlocksWellFormed(const DecodeArguments &arguments, uint64_t begin) {
  const uint64_t blocks = cgx_lossless_block_count(arguments.elements);
  for (uint64_t b = 0; b < blocks; ++b) {
    const auto elements = uint32_t(std::min<uint64_t>(blockElements, arguments.elements - b * blockElements));
    const uint64_t end = b + 1 < blocks ? blockBegin(arguments.body, b + 1) : arguments.bodyBytes;
    if (blockBegin(arguments.body, b) != begin || end < begin + 8 || end > arguments.bodyBytes)
      return false;
    Block block{};
    if (isRaw(arguments.body + begin) ? end - begin != cgx_lossless_raw_block_bytes(arguments.type, elements)
                                      : !readBlock(arguments.body + begin, end - begin, elements,
                                                   measureWith<Mantissas>(arguments), block))
      return false;
    begin = end;
  }
  return true;
}

/// Decodes the block of `count` elements at [begin, end) of the body. Errors in the codes are found only
/// here, and make every element of the block a NaN.
template <typename Loops, typename Mantissas>
void decodeBlock(const DecodeArguments &arguments, uint64_t begin, uint64_t end, uint32_t count,
                 const ExponentCode &code, const typename Loops::Decoder &decoder, bool isStreamed,
                 uint8_t *elements) {
  const uint64_t elementBytes = cgx_element_bytes(arguments.type);
  const uint8_t *bytes = arguments.body + begin;
  if (isRaw(bytes)) {
    memcpy(elements, bytes + 8, count * elementBytes);
    return;
  }
  uint8_t copy[2 + 2 * blockStreams + Mantissas::mostBytes + blockStreams * mostStreamBytes + 8 + readSlack];
  if (arguments.bodyBytes - end < readSlack) {
    memcpy(copy, bytes, end - begin);
    memset(copy + (end - begin), 0, readSlack);
    bytes = copy;
  }
  Block block{};
  (void)readBlock(bytes, end - begin, count, measureWith<Mantissas>(arguments), block);
  Symbols symbols;
  typename Mantissas::Opened opened;
  Mantissas::open(arguments, block, opened);
  if (Loops::decodeStreams(decoder, block, symbols))
    Loops::merge(arguments.type, code, block, opened, symbols, isStreamed,
                 Ahead(arguments.body + end, end - begin), elements);
  else
    for (uint32_t i = 0; i < count; ++i)
      storeElement(arguments.type, elements, i, floatFromBits(0x7fc00000u));
}

/// Calls put(first, count, decode) for every block; put() calls decode(isStreamed, elements).
template <typename Loops, typename Mantissas, typename Put>
DecodeError forEachBlock(const DecodeArguments &arguments, const Put &put) {
  const uint64_t blocks = cgx_lossless_block_count(arguments.elements);
  ExponentCode code;
  if (arguments.bodyBytes < 8 * blocks ||
      !readExponentCode(arguments.body + 8 * blocks, arguments.bodyBytes - 8 * blocks, code) ||
      !areBlocksWellFormed<Mantissas>(arguments, 8 * blocks + tableBytes(code.symbols)))
    return DecodeError::malformed;
  const typename Loops::Decoder decoder(code, arguments.elements);
  for (uint64_t b = 0; b < blocks; ++b) {
    const uint64_t first = b * blockElements;
    const auto count = uint32_t(std::min<uint64_t>(blockElements, arguments.elements - first));
    const uint64_t end = b + 1 < blocks ? blockBegin(arguments.body, b + 1) : arguments.bodyBytes;
    put(first, count, [&](bool isStreamed, uint8_t *elements) {
      decodeBlock<Loops, Mantissas>(arguments, blockBegin(arguments.body, b), end, count, code, decoder,
                                    isStreamed, elements);
    });
  }
  return DecodeError::ok;
}

template <typename Loops, typename Mantissas>
DecodeError decodeBody(const DecodeArguments &arguments, void *output) {
  auto *elements = static_cast<uint8_t *>(output);
  const bool isStreamed = Loops::isStreamed(arguments.type, arguments.elements, output);
  const DecodeError error =
      forEachBlock<Loops, Mantissas>(arguments, [&](uint64_t first, uint32_t, const auto &decode) {
        decode(isStreamed, elements + first * cgx_element_bytes(arguments.type));
      });
  if (isStreamed)
    Loops::flush();
  return error;
}

template <typename Loops, typename Mantissas>
DecodeError decodeAccumulateBody(const DecodeArguments &arguments, float *accumulator) {
  uint8_t elements[4 * blockElements];
  return forEachBlock<Loops, Mantissas>(arguments, [&](uint64_t first, uint32_t count, const auto &decode) {
    decode(/*isStreamed=*/false, elements);
    Loops::accumulate(arguments.type, elements, count, accumulator + first);
  });
}

} // namespace cgx::lossless

#endif // CGX_KERNELS_CPU_LOSSLESSBODY_H
