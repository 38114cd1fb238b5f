//===-- kernels/cpu/LosslessLoops.h - Blocks, one element after the other ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_LOSSLESSLOOPS_H
#define CGX_KERNELS_CPU_LOSSLESSLOOPS_H

#include "LosslessBody.h"

namespace cgx::lossless {

/// Loops that take one element, or one symbol, after the other.
struct ReferenceLoops {
  class Counter {
  public:
    Counter(cgx_element_type type, bool isPruned) : type(type), isPruned(isPruned) {}

    void add(const uint8_t *elements, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bits = bitsAt(type, elements, i), exponent = exponentOf(bits);
        ++counted.exponents[exponent];
        counted.zeros[bits >> 31] += uint32_t(isPruned ? exponent == 0 : isZeroBits(bits));
      }
    }

    const ExponentCounts &counts() const { return counted; }

  private:
    cgx_element_type type;
    bool isPruned;
    ExponentCounts counted = {};
  };

  static void narrow(cgx_element_type type, const uint8_t *values, uint32_t count, uint8_t *elements) {
    for (uint32_t i = 0; i < count; ++i)
      storeElement(type, elements, i, loadF32(values, i));
  }

  struct Encoder {
    explicit Encoder(const ExponentCode &code) : words(makeCodeWords(code)) {}
    CodeWords words;
  };

  struct Decoder {
    Decoder(const ExponentCode &code, uint64_t /*elements*/) { makeSymbolTable(code, table); }
    SymbolTable table;
  };

  static bool split(cgx_element_type type, const uint8_t *elements, uint32_t count, const ExponentCode &code,
                    PlainParts &parts) {
    parts.notZero = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t bits = bitsAt(type, elements, i), symbol = symbolOf(bits, code.first);
      if (symbol >= code.symbols)
        return false;
      parts.symbols[i] = uint8_t(symbol);
      if (symbol < zeroSymbols)
        continue;
      const auto low = uint16_t(bits);
      if (type == CGX_F32)
        memcpy(parts.low + 2 * parts.notZero, &low, sizeof low);
      parts.rest[parts.notZero++] = uint8_t(restOf(bits));
    }
    return true;
  }

  static uint64_t encodeStream(const Encoder &encoder, const uint8_t *symbols, uint32_t count,
                               uint8_t *stream) {
    uint64_t bytes = 0;
    uint32_t waiting = 0, waitingBits = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t word = encoder.words[symbols[i]];
      waiting |= (word & 0xfff) << waitingBits;
      for (waitingBits += word >> 12; waitingBits >= 8; waitingBits -= 8, waiting >>= 8)
        stream[bytes++] = uint8_t(waiting);
    }
    if (waitingBits != 0)
      stream[bytes++] = uint8_t(waiting);
    return bytes;
  }

  static uint64_t encodeStreams(const Encoder &encoder, const uint8_t *symbols, uint32_t count, const Ahead &,
                                uint8_t *streams, uint16_t *bytes) {
    uint64_t sum = 0;
    for (uint32_t begin = 0; begin < count; begin += streamElements) {
      const uint64_t own =
          encodeStream(encoder, symbols + begin, std::min(streamElements, count - begin), streams + sum);
      *bytes++ = uint16_t(own);
      sum += own;
    }
    return sum;
  }

  static bool decodeStreams(const Decoder &decoder, const Block &block, Symbols &symbols) {
    const uint8_t *stream = block.streams;
    uint32_t notZero = 0;
    for (uint32_t s = 0; s < streamCount(block.elements); ++s) {
      uint64_t position = 0; // in bits; symbols past the stream's end fail the check below
      for (uint32_t i = 0; i < block.inStream(s); ++i) {
        uint32_t next;
        memcpy(&next, stream + position / 8, sizeof next);
        const uint32_t entry = decoder.table[(next >> position % 8) % huffmanTableSize];
        symbols.of[s][i] = uint8_t(entry);
        notZero += uint32_t(symbols.of[s][i] >= zeroSymbols);
        position += entry >> 8;
      }
      if ((position + 7) / 8 != block.streamBytes[s])
        return false;
      stream += block.streamBytes[s];
    }
    return notZero == block.notZero;
  }

  template <typename Opened>
  static void merge(cgx_element_type type, const ExponentCode &code, const Block &block, const Opened &opened,
                    const Symbols &symbols, bool /*isStreamed*/, const Ahead &, uint8_t *elements) {
    uint32_t notZero = 0;
    for (uint32_t i = 0; i < block.elements; ++i) {
      const uint32_t symbol = symbols.of[i / streamElements][i % streamElements];
      uint32_t bits = zeroBits(symbol);
      if (symbol >= zeroSymbols) {
        const uint32_t mantissa = opened.at(type, notZero++);
        bits = elementBits(code.first + symbol - zeroSymbols, mantissa >> 16, mantissa & 0xffff);
      }
      if (type == CGX_F32) {
        memcpy(elements + 4 * uint64_t(i), &bits, sizeof bits);
      } else {
        const auto half = uint16_t(bits >> 16);
        memcpy(elements + 2 * uint64_t(i), &half, sizeof half);
      }
    }
  }

  static bool isStreamed(cgx_element_type, uint64_t /*elements*/, const void * /*output*/) { return false; }
  static bool isPayloadStreamed(uint64_t /*bytes*/) { return false; }
  static void storeLines(const uint8_t * /*lines*/, uint64_t /*count*/, uint8_t * /*out*/) {}
  static void flush() {}

  static void accumulate(cgx_element_type type, const uint8_t *elements, uint32_t count, float *accumulator) {
    for (uint32_t i = 0; i < count; ++i)
      accumulator[i] += loadElement(sourceOf(type), elements, i);
  }
};

} // namespace cgx::lossless

#endif // CGX_KERNELS_CPU_LOSSLESSLOOPS_H
