//===-- Eden-inl.h - The eden codec in vectors ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buckets go through a buffer of floats, group by group; a group is as many buckets as fill whole blocks of
// packed levels. A rotation takes 64 or 128 elements at a time through registers. Pairs within one vector are
// added and subtracted by one shuffle and one fma, whose product by 1 or -1 is exact; pairs of vectors by an
// addition and a subtraction. So each sum is the one that transformBlock() computes.

#if defined(CGX_KERNELS_CPU_SIMD_EDEN) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_EDEN
#undef CGX_KERNELS_CPU_SIMD_EDEN
#else
#define CGX_KERNELS_CPU_SIMD_EDEN
#endif

#include "../EdenBody.h"
#include "Decode-inl.h"
#include "Rows-inl.h"
#include "cgx/arithmetic/eden.h"
#include "cgx/arithmetic/scale_section.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// The least number of elements in a group, which makes whole blocks of every width.
constexpr uint64_t edenGroupElements = 512;
static_assert(CGX_EDEN_MOST_BUCKET % edenGroupElements == 0);

/// The elements of `count` vectors, a power of two. As halves of halves they stay in registers, where an
/// array of vectors would not.
template <size_t count> struct Tile {
  Tile<count / 2> low, high;
};
template <> struct Tile<1> {
  FloatVector x;
};

/// Returns 1 in lanes that are the first of their pair at a distance, and -1 in the others.
template <size_t distance> HWY_INLINE FloatVector pairSigns() {
  const Floats floats;
  const Words words;
  const WordVector isSecond = hn::And(hn::Iota(words, 0), hn::Set(words, uint32_t(distance)));
  constexpr int shift = distance == 1 ? 31 : distance == 2 ? 30 : distance == 4 ? 29 : 28;
  return hn::Xor(hn::Set(floats, 1.0f), hn::BitCast(floats, hn::ShiftLeft<shift>(isSecond)));
}

/// Exchanges each lane with the one at a distance.
template <size_t distance> HWY_INLINE FloatVector exchangePairs(FloatVector x) {
  if constexpr (distance == 1)
    return hn::Shuffle2301(x);
  else if constexpr (distance == 2)
    return hn::Shuffle1032(x);
  else if constexpr (distance == 4)
    return hn::SwapAdjacentBlocks(x);
  else
    return hn::ConcatLowerUpper(Floats(), x, x);
}

template <size_t distance = 1> HWY_INLINE FloatVector addPairsInVector(FloatVector x) {
  if constexpr (distance < lanes)
    return addPairsInVector<2 * distance>(hn::MulAdd(x, pairSigns<distance>(), exchangePairs<distance>(x)));
  else
    return x;
}

template <size_t count> HWY_INLINE void addPairsOfTiles(Tile<count> &a, Tile<count> &b) {
  if constexpr (count == 1) {
    const FloatVector sum = hn::Add(a.x, b.x), difference = hn::Sub(a.x, b.x);
    a.x = sum;
    b.x = difference;
  } else {
    addPairsOfTiles(a.low, b.low);
    addPairsOfTiles(a.high, b.high);
  }
}

/// Computes transformBlock() of the elements of a tile.
template <size_t count> HWY_INLINE void transformTile(Tile<count> &tile) {
  if constexpr (count == 1) {
    tile.x = addPairsInVector(tile.x);
  } else {
    transformTile(tile.low);
    transformTile(tile.high);
    addPairsOfTiles(tile.low, tile.high);
  }
}

template <size_t count> HWY_INLINE void loadTile(Tile<count> &tile, const float *HWY_RESTRICT x) {
  if constexpr (count == 1) {
    tile.x = hn::Load(Floats(), x);
  } else {
    loadTile(tile.low, x);
    loadTile(tile.high, x + count / 2 * lanes);
  }
}

template <size_t count> HWY_INLINE void storeTile(const Tile<count> &tile, float *HWY_RESTRICT x) {
  if constexpr (count == 1) {
    hn::Store(tile.x, Floats(), x);
  } else {
    storeTile(tile.low, x);
    storeTile(tile.high, x + count / 2 * lanes);
  }
}

/// Loads elements of a tensor, multiplied by a factor.
template <Source source, size_t count>
HWY_INLINE void loadScaled(Tile<count> &tile, const void *HWY_RESTRICT input, uint64_t index,
                           FloatVector factor) {
  if constexpr (count == 1) {
    tile.x = hn::Mul(loadElements<source>(input, index), factor);
  } else {
    loadScaled<source>(tile.low, input, index, factor);
    loadScaled<source>(tile.high, input, index + count / 2 * lanes, factor);
  }
}

/// Does the rest of transformBlock() after its tiles are transformed.
inline void transformAcrossTiles(float *HWY_RESTRICT x, uint64_t tile, uint64_t length) {
  const Floats floats;
  for (uint64_t distance = tile; distance < length; distance *= 2)
    for (uint64_t begin = 0; begin < length; begin += 2 * distance)
      for (uint64_t i = begin; i < begin + distance; i += lanes) {
        const FloatVector a = hn::Load(floats, x + i), b = hn::Load(floats, x + i + distance);
        hn::Store(hn::Add(a, b), floats, x + i);
        hn::Store(hn::Sub(a, b), floats, x + i + distance);
      }
}

/// Changes the signs of the elements whose bit is set. The first element has the lowest bit.
HWY_INLINE FloatVector changeSigns(FloatVector x, uint64_t bits) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::IfThenElse(maskOfBits(uint32_t(bits)), hn::Neg(x), x);
#else
  const Words words;
  const WordVector counts = hn::Sub(hn::Set(words, 31), hn::Iota(words, 0));
  const WordVector signs = hn::Shl(hn::Set(words, uint32_t(bits)), counts);
  return hn::Xor(x, hn::BitCast(Floats(), hn::And(signs, hn::Set(words, 0x80000000u))));
#endif
}

/// The sign bits of both rotations for a bucket.
struct BucketSigns {
  uint64_t words[2][CGX_EDEN_MOST_BUCKET / edenSignElements];

  void draw(uint64_t seed, uint64_t begin, uint64_t length) {
    for (uint64_t i = 0; i < length; i += edenSignElements) {
      const EdenSigns signs = edenSigns(seed, begin + i);
      words[0][i / edenSignElements] = signs.first;
      words[1][i / edenSignElements] = signs.second;
    }
  }
};

/// Changes the signs of a part of a tile that has `before` vectors before it.
template <size_t before = 0, size_t count>
HWY_INLINE void changeSignsOfTile(Tile<count> &tile, const uint64_t *HWY_RESTRICT words) {
  if constexpr (count == 1) {
    constexpr size_t element = before * lanes;
    tile.x = changeSigns(tile.x, words[element / edenSignElements] >> element % edenSignElements);
  } else {
    changeSignsOfTile<before>(tile.low, words);
    changeSignsOfTile<before + count / 2>(tile.high, words);
  }
}

/// Sums in 16 lanes, as the reference has them, in one vector or several.
struct LaneSums {
  static constexpr size_t vectors = rowLanes / lanes;
  FloatVector sums[vectors];

  HWY_INLINE LaneSums() {
    for (FloatVector &sum : sums)
      sum = hn::Zero(Floats());
  }
  HWY_INLINE void add(size_t vector, FloatVector a, FloatVector b) {
    sums[vector % vectors] = hn::MulAdd(a, b, sums[vector % vectors]);
  }
  HWY_INLINE float fold() const {
    HWY_ALIGN float all[rowLanes];
    for (size_t i = 0; i < vectors; ++i)
      hn::Store(sums[i], Floats(), all + i * lanes);
    const hn::FixedTag<float, 4> four;
    const auto low = hn::Add(hn::Load(four, all), hn::Load(four, all + 8));
    const auto high = hn::Add(hn::Load(four, all + 4), hn::Load(four, all + 12));
    hn::Store(hn::Add(low, high), four, all);
    return (all[0] + all[2]) + (all[1] + all[3]);
  }
};

/// Looks up numbers in a table of up to 128 floats.
template <uint32_t entries> HWY_INLINE FloatVector lookUp(const float *table, WordVector numbers) {
  const Floats floats;
  const hn::RebindToSigned<Floats> integers;
  const auto indices = hn::BitCast(integers, numbers);
  if constexpr (entries <= lanes)
    return hn::TableLookupLanes(hn::LoadU(floats, table), hn::IndicesFromVec(floats, indices));
  else
    return hn::GatherIndex(floats, table, indices);
}

/// The tables of nearestNormalLevel() for one width: for each step of the search the midpoints that
/// magnitudes are compared with, and the levels. Each table has space for a whole vector after its end.
template <uint32_t bits> struct NormalTables {
  static constexpr uint32_t count = 1u << (bits - 1);
  HWY_ALIGN float levels[count + 16] = {};
  HWY_ALIGN float middles[bits][count + 16] = {};

  constexpr NormalTables() {
    const float *from = normalLevels(bits);
    for (uint32_t i = 0; i < count; ++i)
      levels[i] = from[i];
    uint32_t at = 0;
    for (uint32_t step = count / 2; step > 0; step /= 2, ++at)
      for (uint32_t i = 0; i + step < count; ++i)
        middles[at][i] = (from[i + step - 1] + from[i + step]) * 0.5f;
  }

  template <uint32_t step = count / 2, uint32_t at = 0>
  HWY_INLINE WordVector search(FloatVector magnitude, WordVector number) const {
    if constexpr (step == 0) {
      return number;
    } else {
      const FloatVector middle =
          at == 0 ? hn::Set(Floats(), middles[0][0]) : lookUp<count>(middles[at], number);
      const WordMask isAbove = hn::RebindMask(Words(), hn::Gt(magnitude, middle));
      const WordVector added = hn::IfThenElseZero(isAbove, hn::Set(Words(), step));
      return search<step / 2, at + 1>(magnitude, at == 0 ? added : hn::Or(number, added));
    }
  }
};

template <uint32_t bits> constexpr NormalTables<bits> normalTables;

/// Codes in the upper bits of 16, one in each 32-bit word, as packBlock() takes them.
template <uint32_t bits> struct CodeRows {
  const float *HWY_RESTRICT codes;

  template <uint32_t row> HWY_INLINE HalfVector makeRow(size_t c) const {
    const Words words;
    const uint32_t *from = reinterpret_cast<const uint32_t *>(codes) + row * 32 + c;
    return hn::BitCast(Halves(),
                       hn::Or(hn::Load(words, from), hn::ShiftLeft<16>(hn::Load(words, from + 16))));
  }
};

/// Changes the signs of a bucket in the buffer, and then transforms it.
template <size_t count>
HWY_INLINE void rotateTiles(float *HWY_RESTRICT x, uint64_t length, const uint64_t *HWY_RESTRICT signs) {
  constexpr uint64_t tileElements = count * lanes;
  for (uint64_t i = 0; i < length; i += tileElements) {
    Tile<count> tile;
    loadTile(tile, x + i);
    changeSignsOfTile(tile, signs + i / edenSignElements);
    transformTile(tile);
    storeTile(tile, x + i);
  }
  transformAcrossTiles(x, tileElements, length);
}

//===----------------------------------------------------------------------===//
// Encode
//===----------------------------------------------------------------------===//

/// Loads a bucket, multiplies it by `prescale`, and rotates it twice. Tiles have `count` vectors.
template <Source source, size_t count>
HWY_INLINE void rotateTwice(const void *HWY_RESTRICT input, uint64_t begin, uint64_t length, float prescale,
                            const BucketSigns &signs, float *HWY_RESTRICT x) {
  constexpr uint64_t tileElements = count * lanes;
  const FloatVector factor = hn::Set(Floats(), prescale);
  Tile<count> tile;
  if (length == tileElements) {
    loadScaled<source>(tile, input, begin, factor);
    changeSignsOfTile(tile, signs.words[0]);
    transformTile(tile);
    changeSignsOfTile(tile, signs.words[1]);
    transformTile(tile);
    return storeTile(tile, x);
  }
  for (uint64_t i = 0; i < length; i += tileElements) {
    loadScaled<source>(tile, input, begin + i, factor);
    changeSignsOfTile(tile, signs.words[0] + i / edenSignElements);
    transformTile(tile);
    storeTile(tile, x + i);
  }
  transformAcrossTiles(x, tileElements, length);
  rotateTiles<count>(x, length, signs.words[1]);
}

/// Does the same for a bucket that must be filled up with zeros.
template <Source source, size_t count>
HWY_NOINLINE void fillUpAndRotate(const void *input, uint64_t begin, uint64_t end, uint64_t length,
                                  float prescale, const BucketSigns &signs, float *x) {
  HWY_ALIGN float filled[CGX_EDEN_MOST_BUCKET] = {};
  for (uint64_t i = begin; i < end; ++i)
    filled[i - begin] = loadElement(source, input, i);
  rotateTwice<Source::f32, count>(filled, 0, length, prescale, signs, x);
}

template <Source source, size_t count>
HWY_INLINE void rotateIn(const EncodeArguments &arguments, const BucketSigns &signs, uint64_t begin,
                         uint64_t end, uint64_t length, float prescale, float *HWY_RESTRICT x) {
  if (HWY_LIKELY(end - begin == length))
    rotateTwice<source, count>(arguments.input, begin, length, prescale, signs, x);
  else
    fillUpAndRotate<source, count>(arguments.input, begin, end, length, prescale, signs, x);
}

/// Rotates a bucket into a buffer, and returns its prescale: 0 if the bucket is all zeros, NaN if some
/// element is not finite. In these cases the buffer is unchanged.
template <Source source>
float rotateBucket(const EncodeArguments &arguments, uint64_t seed, uint64_t begin, uint64_t length,
                   float *x) {
  const uint64_t end = arguments.elements - begin < length ? arguments.elements : begin + length;
  const uint32_t largest = largestMagnitude<source>(arguments.input, begin, end);
  if (HWY_UNLIKELY(largest == 0 || largest >= infinityBits))
    return largest == 0 ? 0.0f : quietNan();
  const float prescale = edenPrescale(largest);
  BucketSigns signs;
  signs.draw(seed, begin, length);
  if (length == 64)
    rotateIn<source, 64 / lanes>(arguments, signs, begin, end, length, prescale, x);
  else
    rotateIn<source, 128 / lanes>(arguments, signs, begin, end, length, prescale, x);
  return prescale;
}
using RotateBucket = float (*)(const EncodeArguments &arguments, uint64_t seed, uint64_t begin,
                               uint64_t length, float *x);

/// Replaces rotated elements by their codes, and returns the scale.
template <uint32_t bits> float encodeRotated(float *HWY_RESTRICT x, uint64_t length, float prescale) {
  const Floats floats;
  const Words words;
  const NormalTables<bits> &tables = normalTables<bits>;
  const float inverseLength = 1.0f / float(length);
  LaneSums squares, products;
  for (uint64_t i = 0; i < length; i += rowLanes)
    for (size_t c = 0; c < rowLanes; c += lanes) {
      const FloatVector element = hn::Load(floats, x + i + c);
      squares.add(c / lanes, element, element);
    }
  const float sum = squares.fold();
  const FloatVector factor = hn::Set(floats, edenFactor(sum, inverseLength));
  for (uint64_t i = 0; i < length; i += rowLanes)
    for (size_t c = 0; c < rowLanes; c += lanes) {
      const FloatVector element = hn::Load(floats, x + i + c), magnitude = hn::Abs(element);
      const WordVector number = tables.search(hn::Mul(magnitude, factor), hn::Zero(words));
      products.add(c / lanes, magnitude, lookUp<tables.count>(tables.levels, number));
      const WordVector sign =
          hn::And(hn::ShiftRight<16>(hn::BitCast(words, element)), hn::Set(words, 0x8000u));
      hn::Store(hn::BitCast(floats, hn::Or(hn::ShiftLeft<16 - bits>(number), sign)), floats, x + i + c);
    }
  return edenScale(sum, products.fold(), inverseLength, prescale);
}

/// Packs the codes of a group. Only the payload's last group may end inside a block.
template <uint32_t bits> void packCodes(const float *codes, uint64_t count, uint8_t *out) {
  constexpr uint64_t block = packingBlockElements(bits);
  for (; count >= block; count -= block, codes += block, out += packingBlockBytes(bits))
    packBlock<bits>(CodeRows<bits>{codes}, out);
  uint16_t rest[block];
  for (uint64_t i = 0; i < count; ++i)
    rest[i] = uint16_t(floatBits(codes[i]));
  packDense(rest, count, bits, out);
}

struct EdenEncoder {
  RotateBucket rotate;
  float (*encodeRotated)(float *x, uint64_t length, float prescale);
  void (*packCodes)(const float *codes, uint64_t count, uint8_t *out);
};

/// Encodes the bucket that begins at `begin`, with its codes into `x`.
inline void encodeEdenBucket(const EdenEncoder &with, const EncodeArguments &arguments,
                             const EdenSections<uint8_t> &body, uint64_t seed, uint64_t begin, float *x) {
  const cgx_codec &codec = *arguments.codec;
  const uint64_t length = body.lengthAt(begin);
  float scale = with.rotate(arguments, seed, begin, length, x);
  if (HWY_UNLIKELY(!(scale > 0.0f))) {
    memset(x, 0, length * sizeof *x);
  } else {
    scale = with.encodeRotated(x, length, /*prescale=*/scale);
    scale = roundEdenScale(scale, codec.scale, randomHalf(arguments.key, arguments.firstElement + begin));
  }
  storeScaleValue(body.scales, codec.scale, begin / codec.bucket, scale);
}

inline void encodeEden(const EdenEncoder &with, const EncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  const uint64_t seed = edenSeed(arguments.key, arguments.firstElement);
  memcpy(arguments.body, &seed, sizeof seed);
  const EdenSections<uint8_t> body(codec, arguments.body, arguments.elements);
  const uint64_t group = codec.bucket < edenGroupElements ? edenGroupElements : codec.bucket;
  HWY_ALIGN float x[CGX_EDEN_MOST_BUCKET];
  for (uint64_t begin = 0; begin < body.elements; begin += group) {
    const uint64_t count = body.elements - begin < group ? body.elements - begin : group;
    for (uint64_t i = 0; i < count; i += codec.bucket)
      encodeEdenBucket(with, arguments, body, seed, begin + i, x + i);
    with.packCodes(x, count, body.levels + begin / 8 * codec.bits);
  }
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

/// The levels of codes, stored into a buffer.
template <uint32_t bits> struct LevelRows {
  static constexpr bool takesDirtyLevels = false;
  float *HWY_RESTRICT x;

  static HWY_INLINE FloatVector levelsOf(WordVector codes) {
    const Words words;
    constexpr uint32_t count = NormalTables<bits>::count;
    const WordVector number = hn::And(codes, hn::Set(words, count - 1));
    const WordVector sign = hn::And(hn::ShiftLeft<32 - bits>(codes), hn::Set(words, 0x80000000u));
    return hn::Xor(lookUp<count>(normalTables<bits>.levels, number), hn::BitCast(Floats(), sign));
  }

  template <uint32_t row> HWY_INLINE void takeRow(size_t c, WordVector low, WordVector high) const {
    hn::Store(levelsOf(low), Floats(), x + row * 32 + c);
    hn::Store(levelsOf(high), Floats(), x + row * 32 + 16 + c);
  }
};

/// Undoes the rotation of a bucket of levels, except the signs of the first rotation.
template <size_t count>
HWY_INLINE void rotateBack(float *HWY_RESTRICT x, uint64_t length, const uint64_t *HWY_RESTRICT signs) {
  constexpr uint64_t tileElements = count * lanes;
  Tile<count> tile;
  if (length == tileElements) {
    loadTile(tile, x);
    transformTile(tile);
    changeSignsOfTile(tile, signs);
    transformTile(tile);
    return storeTile(tile, x);
  }
  for (uint64_t i = 0; i < length; i += tileElements) {
    loadTile(tile, x + i);
    transformTile(tile);
    storeTile(tile, x + i);
  }
  transformAcrossTiles(x, tileElements, length);
  rotateTiles<count>(x, length, signs);
}

template <Sink sink>
HWY_INLINE void decodeEdenBucket(const DecodeArguments &arguments, const EdenSections<const uint8_t> &body,
                                 uint64_t seed, uint64_t begin, float limit, float *HWY_RESTRICT x,
                                 OutputOf<sink> *output) {
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  const uint64_t length = body.lengthAt(begin);
  const uint64_t elements = arguments.elements - begin < length ? arguments.elements - begin : length;
  const float scale = loadScaleValue(body.scales, codec.scale, begin / codec.bucket);
  if (HWY_UNLIKELY(!isFinite(scale))) {
    for (uint64_t i = 0; i < elements; ++i)
      emitOne<sink>(quietNan(), output + begin + i);
    return;
  }
  BucketSigns signs;
  signs.draw(seed, begin, length);
  if (length == 64)
    rotateBack<64 / lanes>(x, length, signs.words[1]);
  else
    rotateBack<128 / lanes>(x, length, signs.words[1]);
  const float inverseLength = 1.0f / float(length);
  const FloatVector inverse = hn::Set(floats, inverseLength), unit = hn::Set(floats, scale);
  const FloatVector top = hn::Set(floats, limit), bottom = hn::Set(floats, -limit);
  uint64_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    const uint64_t bits = signs.words[0][i / edenSignElements] >> i % edenSignElements;
    const FloatVector value = hn::Mul(hn::Mul(changeSigns(hn::Load(floats, x + i), bits), inverse), unit);
    emit<sink>(hn::Max(hn::Min(value, top), bottom), output + begin + i);
  }
  for (; i < elements; ++i) {
    const uint32_t sign = uint32_t(signs.words[0][i / edenSignElements] >> i % edenSignElements & 1) << 31;
    const float element = floatFromBits(floatBits(x[i]) ^ sign);
    emitOne<sink>(edenValue(element, inverseLength, scale, limit), output + begin + i);
  }
}

/// Unpacks the levels of a group.
template <uint32_t bits> void unpackLevels(const uint8_t *in, uint64_t count, float *x) {
  constexpr uint64_t block = packingBlockElements(bits);
  for (; count >= block; count -= block, x += block, in += packingBlockBytes(bits))
    unpackBlock<bits>(in, LevelRows<bits>{x});
  uint16_t rest[block];
  unpackDense(in, count, bits, rest);
  for (uint64_t i = 0; i < count; ++i) {
    const float level = normalLevels(bits)[rest[i] & (NormalTables<bits>::count - 1)];
    x[i] = rest[i] >> (bits - 1) ? -level : level;
  }
}
using UnpackLevels = void (*)(const uint8_t *in, uint64_t count, float *x);

template <Sink sink>
void decodeEdenTo(UnpackLevels unpack, const DecodeArguments &arguments, float limit,
                  OutputOf<sink> *output) {
  const cgx_codec &codec = *arguments.codec;
  const EdenSections<const uint8_t> body(codec, arguments.body, arguments.elements);
  const uint64_t group = codec.bucket < edenGroupElements ? edenGroupElements : codec.bucket;
  HWY_ALIGN float x[CGX_EDEN_MOST_BUCKET];
  for (uint64_t begin = 0; begin < body.elements; begin += group) {
    const uint64_t count = body.elements - begin < group ? body.elements - begin : group;
    unpack(body.levels + begin / 8 * codec.bits, count, x);
    for (uint64_t i = 0; i < count; i += codec.bucket)
      decodeEdenBucket<sink>(arguments, body, body.seed(), begin + i, limit, x + i, output);
  }
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
