//===-- PrefixCode-inl.h - Streams of codes, several symbols at a time -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_PREFIXCODE) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_PREFIXCODE
#undef CGX_KERNELS_CPU_SIMD_PREFIXCODE
#else
#define CGX_KERNELS_CPU_SIMD_PREFIXCODE
#endif

#include "../LosslessBody.h"
#include "Vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Bits on their way into a stream: fewer than 8 after each `put`.
class BitWriter {
public:
  explicit BitWriter(uint8_t *out) : begin(out), out(out) {}

  static constexpr uint64_t mostBits = 56;

  /// Up to `mostBits` bits.
  HWY_INLINE void put(uint64_t bits, uint64_t count) {
    waiting |= bits << waitingBits;
    waitingBits += count;
    memcpy(out, &waiting, sizeof waiting);
    out += waitingBits / 8;
    waiting >>= waitingBits & ~uint64_t(7);
    waitingBits %= 8;
  }

  uint64_t bytes() const { return uint64_t(out - begin) + (waitingBits != 0); }

private:
  uint8_t *begin, *out;
  uint64_t waiting = 0, waitingBits = 0;
};

class CodeWriter {
public:
  explicit CodeWriter(const ExponentCode &code) : words(makeCodeWords(code)), symbols(code.symbols) {}

  HWY_INLINE uint64_t encode(const uint8_t *stream, uint32_t count, uint8_t *out) const {
    BitWriter writer(out);
    uint32_t i = 0;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // The words of 64 symbols fit into two registers.
    if (symbols <= 64)
      for (; i + 32 <= count; i += 32)
        putRow(stream + i, writer);
#endif
    for (; i + 4 <= count; i += 4) {
      uint64_t bits = 0, length = 0;
      for (uint32_t j = 0; j < 4; ++j) {
        const uint64_t word = words[stream[i + j]];
        bits |= (word & 0xfff) << length;
        length += word >> 12;
      }
      writer.put(bits, length);
    }
    for (; i < count; ++i)
      writer.put(words[stream[i]] & 0xfff, words[stream[i]] >> 12);
    return writer.bytes();
  }

private:
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  /// Puts the codes of two, four, then eight neighbours together in vectors. Eight codes have as many bits as
  /// the writer takes at a time, but where most of them are rare.
  HWY_INLINE void putRow(const uint8_t *symbolsOfRow, BitWriter &writer) const {
    const hn::ScalableTag<uint16_t> halves;
    const hn::ScalableTag<uint32_t> whole;
    const hn::ScalableTag<uint64_t> wide;
    const auto symbol =
        hn::PromoteTo(halves, hn::LoadU(hn::Rebind<uint8_t, decltype(halves)>(), symbolsOfRow));
    const auto word = hn::BitCast(
        whole, decltype(symbol){_mm512_permutex2var_epi16(hn::LoadU(halves, words.data()).raw, symbol.raw,
                                                          hn::LoadU(halves, words.data() + 32).raw)});
    const auto ofCode = hn::Set(whole, 0xfff);
    const auto lowLength = hn::And(hn::ShiftRight<12>(word), hn::Set(whole, 0xf));
    const auto twoLength = hn::BitCast(wide, hn::Add(lowLength, hn::ShiftRight<28>(word)));
    const auto two = hn::BitCast(
        wide, hn::Or(hn::And(word, ofCode), hn::Shl(hn::And(hn::ShiftRight<16>(word), ofCode), lowLength)));
    const auto lowHalf = hn::Set(wide, 0xffffffffu);
    const auto lowTwoLength = hn::And(twoLength, lowHalf);
    const auto four = hn::Or(hn::And(two, lowHalf), hn::Shl(hn::ShiftRight<32>(two), lowTwoLength));
    const auto fourLength = hn::Add(lowTwoLength, hn::ShiftRight<32>(twoLength));
    const auto eightLength = hn::Add(fourLength, hn::Shuffle01(fourLength));
    alignas(64) uint64_t bits[8], lengths[8];
    if (HWY_LIKELY(hn::AllTrue(wide, hn::Lt(eightLength, hn::Set(wide, BitWriter::mostBits + 1))))) {
      hn::Store(hn::Or(four, hn::Shl(hn::Shuffle01(four), fourLength)), wide, bits);
      hn::Store(eightLength, wide, lengths);
      for (uint32_t j = 0; j < 8; j += 2)
        writer.put(bits[j], lengths[j]);
      return;
    }
    hn::Store(four, wide, bits);
    hn::Store(fourLength, wide, lengths);
    for (uint32_t j = 0; j < 8; ++j)
      writer.put(bits[j], lengths[j]);
  }
#endif

  CodeWords words;
  uint32_t symbols;
};

/// By the next 11 bits: the symbols that are whole in them, up to six, from bit 16 on; how many bits they
/// have in the low byte, how many they are in the next.
class CodeReader {
public:
  CodeReader(const ExponentCode &code, uint64_t elements) {
    makeSymbolTable(code, single);
    // A table of several symbols takes as long to build as it saves with some thousand elements.
    if (elements < 2048) {
      for (uint32_t next = 0; next < huffmanTableSize; ++next)
        table[next] = withSymbol(0, single[next]);
      return;
    }
    // Of sequences that are one bit longer than the last ones each: that bit may be the last one of a symbol.
    table[0] = 0;
    for (uint32_t length = 1; length <= huffmanMostBits; ++length)
      for (uint32_t half = 1u << (length - 1), next = 0; next < half; ++next) {
        const uint64_t before = table[next];
        table[next] = lengthened(before, next, length);
        table[next + half] = lengthened(before, next + half, length);
      }
  }

  HWY_INLINE bool decode(const lossless::Block &block, lossless::Symbols &symbols) const {
    const uint32_t streams = lossless::streamCount(block.elements);
    uint64_t begins[lossless::blockStreams + 1] = {};
    for (uint32_t s = 0; s < streams; ++s)
      begins[s + 1] = begins[s] + block.streamBytes[s];
    bool isRight = true;
    for (uint32_t s = 0; s < streams; s += together) {
      Stream four[together];
      for (uint32_t k = 0; k < together; ++k) {
        const uint32_t own =
            std::min(s + k, streams - 1); // where there are not four left, the last one again
        four[k] = {block.streams + begins[own], symbols.of[own], symbols.of[own] + block.inStream(own)};
      }
      decodeTogether(four);
      for (uint32_t k = 0; k < together && s + k < streams; ++k)
        isRight &= finish(four[k]) == block.streamBytes[s + k];
    }
    return isRight;
  }

private:
  static constexpr uint32_t together = 4;
  /// Five times 11 bits are read between two refills.
  static constexpr uint32_t between = 5;
  /// Symbols that one look into the table gives.
  static constexpr uint32_t mostAtOnce = 6;

  /// An entry with one more symbol, as `single` has it.
  static HWY_INLINE uint64_t withSymbol(uint64_t entry, uint64_t symbol) {
    return entry + ((symbol & 0xff) << (16 + 8 * (entry >> 8 & 0xff)) | 1u << 8 | symbol >> 8);
  }

  /// The entry of the `length` bits `next`, from that of all of them but the last.
  HWY_INLINE uint64_t lengthened(uint64_t entry, uint32_t next, uint32_t length) const {
    const uint64_t used = entry & 0xff, count = entry >> 8 & 0xff, symbol = single[next >> used];
    return used + (symbol >> 8) <= length && count < mostAtOnce ? withSymbol(entry, symbol) : entry;
  }

  struct Stream {
    const uint8_t *from;
    uint8_t *to, *end;
    uint64_t position = 0; ///< in bits
  };

  static HWY_INLINE uint64_t refill(const Stream &stream) {
    uint64_t bits;
    memcpy(&bits, stream.from + stream.position / 8, sizeof bits);
    return bits >> stream.position % 8;
  }

  HWY_INLINE void step(Stream &stream, uint64_t &bits, uint64_t &used) const {
    const uint64_t entry = table[bits % huffmanTableSize], symbols = entry >> 16;
    memcpy(stream.to, &symbols, sizeof symbols);
    stream.to += (entry >> 8) & 0xff;
    bits >>= entry % 64;
    used += entry;
  }

  /// Until one of them comes near its end.
  HWY_INLINE void decodeTogether(Stream (&four)[together]) const {
    Stream a = four[0], b = four[1], c = four[2], d = four[3];
    const auto left = [](const Stream &stream) { return uint64_t(stream.end - stream.to); };
    // So many refills none of them can come to its end, whatever the codes are.
    while (uint64_t refills = std::min({left(a), left(b), left(c), left(d)}) / (mostAtOnce * between)) {
      for (; refills != 0; --refills) {
        uint64_t bitsA = refill(a), bitsB = refill(b), bitsC = refill(c), bitsD = refill(d);
        uint64_t usedA = 0, usedB = 0, usedC = 0, usedD = 0;
#pragma GCC unroll 5
        for (uint32_t i = 0; i < between; ++i) {
          step(a, bitsA, usedA);
          step(b, bitsB, usedB);
          step(c, bitsC, usedC);
          step(d, bitsD, usedD);
        }
        a.position += usedA % 256;
        b.position += usedB % 256;
        c.position += usedC % 256;
        d.position += usedD % 256;
      }
    }
    four[0] = a, four[1] = b, four[2] = c, four[3] = d;
  }

  /// The rest, in the end one symbol at a time; returns the bytes of the stream.
  HWY_INLINE uint64_t finish(Stream &stream) const {
    while (uint64_t(stream.end - stream.to) >= mostAtOnce) {
      uint64_t bits = refill(stream), used = 0;
      for (uint32_t i = 0; i < between && uint64_t(stream.end - stream.to) >= mostAtOnce; ++i)
        step(stream, bits, used);
      stream.position += used % 256;
    }
    while (stream.to < stream.end) {
      const uint64_t entry = single[refill(stream) % huffmanTableSize];
      *stream.to++ = uint8_t(entry);
      stream.position += entry >> 8;
    }
    return (stream.position + 7) / 8;
  }

  SymbolTable single;
  alignas(64) std::array<uint64_t, huffmanTableSize> table;
};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
