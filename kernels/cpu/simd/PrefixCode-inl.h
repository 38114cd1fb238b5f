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

/// Writes bits to a stream. Fewer than 8 bits wait after each `put`.
class BitWriter {
public:
  explicit BitWriter(uint8_t *out) : begin(out), out(out) {}

  static constexpr uint64_t mostBits = 56;

  /// Appends up to `mostBits` bits.
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
  explicit CodeWriter(const ExponentCode &code) : words(makeCodeWords(code)), symbols(code.symbols) {
    // In data that a complete code is optimal for, the share of each symbol follows from its length.
    double bits = 0;
    for (uint32_t length : code.lengths)
      if (length != 0)
        bits += double(length) / double(1u << length);
    areShort = 16 * bits <= 45;
  }

  /// Implements encodeStreams().
  HWY_INLINE uint64_t encode(const uint8_t *block, uint32_t count, lossless::Ahead ahead, uint8_t *out,
                             uint16_t *bytes) const {
    uint64_t sum = 0;
    const auto end = [&](uint64_t streamBytes) {
      *bytes++ = uint16_t(streamBytes);
      sum += streamBytes;
    };
    uint32_t i = 0;
    for (; i + 2 * streamElements <= count; i += 2 * streamElements) {
      uint8_t second[mostStreamBytes + codeSlack];
      BitWriter writers[2] = {BitWriter(out + sum), BitWriter(second)};
      encodeTwo(block + i, block + i + streamElements, ahead, writers[0], writers[1]);
      end(writers[0].bytes());
      memcpy(out + sum, second, writers[1].bytes());
      end(writers[1].bytes());
    }
    for (; i < count; i += streamElements) {
      BitWriter writer(out + sum);
      encodeRest(block + i, std::min(streamElements, count - i), ahead, writer);
      end(writer.bytes());
    }
    return sum;
  }

private:
  using Ahead = lossless::Ahead;
  static constexpr uint32_t streamElements = lossless::streamElements;
  static constexpr uint32_t mostStreamBytes = lossless::mostStreamBytes, codeSlack = lossless::codeSlack;

  /// The number of codes that are joined before they are written: mostly sixteen or eight, else four.
  enum class Together { four, eight, sixteen };

  /// Encodes two whole streams in turn, because each bit waits for the bits before it in its stream.
  HWY_INLINE void encodeTwo(const uint8_t *first, const uint8_t *second, Ahead &ahead, BitWriter &ofFirst,
                            BitWriter &ofSecond) const {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // The words of 64 symbols fit into two registers.
    if (symbols <= 64)
      return areShort ? encodeTwoBy<Together::sixteen>(first, second, ahead, ofFirst, ofSecond)
                      : encodeTwoBy<Together::eight>(first, second, ahead, ofFirst, ofSecond);
#endif
    encodeTwoBy<Together::four>(first, second, ahead, ofFirst, ofSecond);
  }

  template <Together together>
  HWY_INLINE void encodeTwoBy(const uint8_t *first, const uint8_t *second, Ahead &aheadOfAll,
                              BitWriter &ofFirst, BitWriter &ofSecond) const {
    BitWriter a = ofFirst, b = ofSecond;
    Ahead ahead = aheadOfAll;
    for (uint32_t i = 0; i < streamElements; i += 32) {
      for (uint32_t asked = 0; asked < 64; asked += Ahead::rowElements)
        ahead.ask();
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
      if constexpr (together != Together::four) {
        putRows<together>(first + i, second + i, a, b);
        continue;
      }
#endif
      for (uint32_t k = 0; k < 32; k += 4) {
        putFour(first + i + k, a);
        putFour(second + i + k, b);
      }
    }
    ofFirst = a, ofSecond = b, aheadOfAll = ahead;
  }

  HWY_INLINE void encodeRest(const uint8_t *stream, uint32_t count, Ahead &ahead, BitWriter &writer) const {
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
      if (i % Ahead::rowElements == 0)
        ahead.ask();
      putFour(stream + i, writer);
    }
    for (; i < count; ++i)
      writer.put(words[stream[i]] & 0xfff, words[stream[i]] >> 12);
  }

  HWY_INLINE void putFour(const uint8_t *stream, BitWriter &writer) const {
    uint64_t bits = 0, length = 0;
    for (uint32_t j = 0; j < 4; ++j) {
      const uint64_t word = words[stream[j]];
      bits |= (word & 0xfff) << length;
      length += word >> 12;
    }
    writer.put(bits, length);
  }

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  using Wide = hn::Repartition<uint64_t, Words>;
  using WideVector = hn::Vec<Wide>;

  /// Codes that were joined, and their total bits.
  struct Joined {
    WideVector bits, lengths;
  };

  static HWY_INLINE Joined join(Joined low, Joined high) {
    return {hn::Or(low.bits, hn::Shl(high.bits, low.lengths)), hn::Add(low.lengths, high.lengths)};
  }

  static HWY_INLINE bool fit(Joined codes) {
    return hn::AllTrue(Wide(), hn::Lt(codes.lengths, hn::Set(Wide(), BitWriter::mostBits + 1)));
  }

  /// Joins the codes of 32 symbols, four neighbours in each lane.
  HWY_INLINE Joined joinFour(const uint8_t *row) const {
    const __m512i symbol = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(row)));
    const __m512i word = _mm512_permutex2var_epi16(_mm512_loadu_si512(words.data()), symbol,
                                                   _mm512_loadu_si512(words.data() + 32));
    const __m512i length = _mm512_srli_epi16(word, 12),
                  code = _mm512_and_si512(word, _mm512_set1_epi16(0xfff));
    // This computes the first of two codes, plus the second one times two to the length of the first.
    const __m512i one = _mm512_set1_epi16(1);
    const __m512i power = _mm512_sllv_epi16(one, _mm512_slli_epi32(length, 16));
    const WideVector two{_mm512_madd_epi16(code, power)}, twoLength{_mm512_madd_epi16(length, one)};
    const WideVector low = hn::Set(Wide(), 0xffffffffu);
    return {hn::Or(hn::And(two, low), hn::Shl(hn::ShiftRight<32>(two), hn::And(twoLength, low))),
            WideVector{_mm512_sad_epu8(length, _mm512_setzero_si512())}};
  }

  /// Writes the codes of 32 symbols of two streams, joining as many neighbours as the writer takes.
  template <Together together>
  HWY_INLINE void putRows(const uint8_t *first, const uint8_t *second, BitWriter &ofFirst,
                          BitWriter &ofSecond) const {
    const Joined a = joinFour(first), b = joinFour(second);
    // Lanes alternate between the two streams.
    const Joined eight = join(
        {hn::InterleaveLower(Wide(), a.bits, b.bits), hn::InterleaveLower(Wide(), a.lengths, b.lengths)},
        {hn::InterleaveUpper(Wide(), a.bits, b.bits), hn::InterleaveUpper(Wide(), a.lengths, b.lengths)});
    alignas(64) uint64_t bits[8], lengths[8];
    const auto store = [&](Joined codes) {
      hn::Store(codes.bits, Wide(), bits);
      hn::Store(codes.lengths, Wide(), lengths);
    };
    if constexpr (together == Together::sixteen) {
      // This exchanges a pair of lanes with its neighbour.
      const auto beside = [](WideVector x) { return WideVector{_mm512_shuffle_i64x2(x.raw, x.raw, 0xb1)}; };
      const Joined sixteen = join(eight, {beside(eight.bits), beside(eight.lengths)});
      if (HWY_LIKELY(fit(sixteen))) {
        store(sixteen);
        for (uint32_t j = 0; j < 8; j += 4) {
          ofFirst.put(bits[j], lengths[j]);
          ofSecond.put(bits[j + 1], lengths[j + 1]);
        }
        return;
      }
    }
    if (HWY_LIKELY(fit(eight))) {
      store(eight);
      for (uint32_t j = 0; j < 8; j += 2) {
        ofFirst.put(bits[j], lengths[j]);
        ofSecond.put(bits[j + 1], lengths[j + 1]);
      }
      return;
    }
    store(a);
    for (uint32_t j = 0; j < 8; ++j)
      ofFirst.put(bits[j], lengths[j]);
    store(b);
    for (uint32_t j = 0; j < 8; ++j)
      ofSecond.put(bits[j], lengths[j]);
  }
#endif

  CodeWords words;
  uint32_t symbols;
  bool areShort; ///< whether the codes of sixteen symbols mostly fit one write
};

/// Decodes by a table of the next 11 bits. An entry holds up to six symbols that lie within these bits, from
/// bit 16 on; their bits in the low byte, and their number in the next.
class CodeReader {
public:
  CodeReader(const ExponentCode &code, uint64_t elements) {
    makeSymbolTable(code, single);
    // A table of several symbols takes as long to build as it saves with a few thousand elements.
    if (elements < 2048) {
      for (uint32_t next = 0; next < huffmanTableSize; ++next)
        table[next] = withSymbol(0, single[next]);
      return;
    }
    // Each round adds one bit to the sequences of the round before, which may be the last bit of a symbol.
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
        const uint32_t own = std::min(s + k, streams - 1); // if fewer than four are left, the last one again
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
  /// The number of looks between two refills: a refill has enough bits for five times 11.
  static constexpr uint32_t between = 5;
  /// The most symbols that one look into the table gives.
  static constexpr uint32_t mostAtOnce = 6;

  /// Returns an entry with one more symbol, taken from `single`.
  static HWY_INLINE uint64_t withSymbol(uint64_t entry, uint64_t symbol) {
    return entry + ((symbol & 0xff) << (16 + 8 * (entry >> 8 & 0xff)) | 1u << 8 | symbol >> 8);
  }

  /// Returns the entry of the `length` bits `next`, given the entry of all of them but the last.
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

  /// Decodes four streams until one of them comes near its end.
  HWY_INLINE void decodeTogether(Stream (&four)[together]) const {
    Stream a = four[0], b = four[1], c = four[2], d = four[3];
    const auto left = [](const Stream &stream) { return uint64_t(stream.end - stream.to); };
    // With this many refills none of them can reach its end, whatever the codes are.
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

  /// Decodes the rest, in the end one symbol at a time. Returns the bytes of the stream.
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
