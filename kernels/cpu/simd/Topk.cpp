//===-- simd/Topk.cpp - The largest elements in vectors --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// foreach_target.h compiles this file once for each instruction set. The input is read once: elements not
// below a bar, the smallest magnitude that can still be sent, become candidates with their places. When there
// are too many, the largest are kept and the bar rises. It begins a little below an estimate from a sample.
// The elements sent, also among equal ones, are those that the reference sends.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/Topk.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "hwy/highway.h"

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "Vectors-inl.h"
#endif

#include "../Families.h"
#include "../TopkCut.h"

#include "hwy/cache_control.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <new>

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {
namespace {

/// The least number of elements for which a bar pays off.
constexpr uint64_t leastElements = 1 << 14;
/// The number of elements that are compared before one branch.
constexpr uint64_t blockElements = 64;

/// Returns a bar to begin with, from the magnitudes of evenly spaced lines of memory and the share that is
/// sent.
template <Source source> uint32_t sampleBar(const void *input, uint64_t elements, uint64_t count) {
  constexpr uint64_t line = 16, mostLines = 1024;
  uint32_t sample[line * mostLines];
  const uint64_t lines = std::min(mostLines, elements / (16 * line)), sampled = lines * line;
  for (uint64_t i = 0; i < sampled; ++i)
    sample[i] = magnitudeBits(loadElement(source, input, i / line * (elements / lines) + i % line));
  // The margin allows for chance in the sample.
  const double expected = double(sampled) * double(count) / double(elements);
  const auto rank = uint64_t(expected + 3 * std::sqrt(expected) + 8);
  if (rank >= sampled)
    return 0;
  std::nth_element(sample, sample + rank, sample + sampled, std::greater<>());
  return sample[rank];
}

/// Elements that may be among the `count` largest, in order.
class Candidates {
public:
  Candidates(uint64_t count, uint32_t bar)
      : count(count), room(2 * count + 16 * blockElements), bar(bar), bits(allocate(room)),
        places(allocate(room)) {}

  bool hasMemory() const { return bits && places; }
  uint64_t size() const { return taken; }

  template <Source source> void take(const void *input, uint64_t elements) {
    uint64_t begin = 0;
    for (; begin + blockElements <= elements; begin += blockElements) {
      hwy::Prefetch(static_cast<const char *>(input) + (begin * bytesOf(source) + aheadBytes));
      takeBlock<source>(input, begin);
      if (taken + blockElements + lanes > room)
        raise();
    }
    for (; begin < elements; ++begin) {
      const uint32_t x = floatBits(loadElement(source, input, begin));
      if ((x & 0x7fffffff) < bar)
        continue;
      bits[taken] = x;
      places[taken++] = uint32_t(begin);
    }
  }

  /// Keeps the `count` largest, and of equal ones the first. There must be at least as many. Returns their
  /// cut.
  Cut keepLargest() {
    const Cut cut = findCut(taken, count, [&](uint64_t i) { return bits[i] & 0x7fffffff; });
    uint64_t kept = 0, ties = 0;
    for (uint64_t i = 0; i < taken; ++i) {
      const uint32_t magnitude = bits[i] & 0x7fffffff;
      const bool isKept = magnitude > cut.magnitude || (magnitude == cut.magnitude && ties++ < cut.ties);
      bits[kept] = bits[i];
      places[kept] = places[i];
      kept += uint64_t(isKept);
    }
    taken = kept;
    return cut;
  }

  /// Calls take(place, value) for each, in order.
  template <class Take> void forEach(const Take &take) const {
    for (uint64_t i = 0; i < taken; ++i)
      take(places[i], floatFromBits(bits[i]));
  }

private:
  using Memory = std::unique_ptr<uint32_t[]>;
  static constexpr uint64_t aheadBytes = 4096;

  static Memory allocate(uint64_t room) { return Memory(new (std::nothrow) uint32_t[room]); }

  /// Raises the bar. New elements must be larger than the smallest that is kept, because of equal elements
  /// the first are sent.
  void raise() { bar = keepLargest().magnitude + 1; }

  template <Source source> HWY_INLINE void takeBlock(const void *input, uint64_t begin) {
    constexpr size_t vectors = blockElements / lanes;
    const hn::RebindToSigned<Words> integers;
    const Words words;
    const auto magnitude = hn::Set(integers, 0x7fffffff), least = hn::Set(integers, int32_t(bar - 1));
    auto isAbove = [&](size_t v) {
      const auto x = hn::BitCast(integers, loadElements<source>(input, begin + v * lanes));
      return hn::Gt(hn::And(x, magnitude), least);
    };
    auto any = isAbove(0);
    for (size_t v = 1; v < vectors; ++v)
      any = hn::Or(any, isAbove(v));
    if (hn::AllFalse(integers, any))
      return;
    for (size_t v = 0; v < vectors; ++v) {
      const auto mask = isAbove(v);
      if (hn::AllFalse(integers, mask))
        continue;
      const auto isTaken = hn::RebindMask(words, mask);
      const WordVector x = hn::BitCast(words, loadElements<source>(input, begin + v * lanes));
      hn::StoreU(hn::Compress(x, isTaken), words, bits.get() + taken);
      hn::StoreU(hn::Compress(hn::Iota(words, uint32_t(begin + v * lanes)), isTaken), words,
                 places.get() + taken);
      taken += hn::CountTrue(integers, mask);
    }
  }

  uint64_t count, room, taken = 0;
  uint32_t bar;
  Memory bits, places;
};

template <Source source> bool encodeFrom(const EncodeArguments &arguments, uint64_t count) {
  Candidates candidates(count, sampleBar<source>(arguments.input, arguments.elements, count));
  if (!candidates.hasMemory())
    return false;
  candidates.template take<source>(arguments.input, arguments.elements);
  if (candidates.size() < count) // the sample was unlike the rest
    return false;
  const Cut cut = candidates.keepLargest();
  storeRest(arguments.body, cut.magnitude < infinityBits);
  PositionsWriter positions(arguments.elements, count, arguments.body + 4);
  uint8_t *values = arguments.body + 4 + cgx_position_bytes(arguments.elements, count);
  uint64_t sent = 0;
  candidates.forEach([&](uint64_t i, float x) {
    positions.add(i);
    storeElement(arguments.type, values, sent++, x);
  });
  positions.finish();
  return true;
}

uint64_t encodeTopk(const EncodeArguments &arguments) {
  const uint64_t elements = arguments.elements;
  if (arguments.codec->bits != 0 || elements < leastElements || elements > UINT32_MAX)
    return topkReference.encode(arguments);
  const uint64_t count = cgx_sparse_count(arguments.codec, elements);
  if (count > elements / 8) // most elements would become candidates
    return topkReference.encode(arguments);
  // With other sources a NaN may differ from the reference's.
  const bool isEncoded = arguments.source == Source::f32    ? encodeFrom<Source::f32>(arguments, count)
                         : arguments.source == Source::bf16 ? encodeFrom<Source::bf16>(arguments, count)
                                                            : false;
  return isEncoded ? cgx_topk_body_bytes(arguments.codec, arguments.type, elements)
                   : topkReference.encode(arguments);
}

DecodeError decodeTopk(const DecodeArguments &arguments, void *output) {
  return topkReference.decode(arguments, output);
}

DecodeError accumulateTopk(const DecodeArguments &arguments, float *accumulator) {
  return topkReference.decodeAccumulate(arguments, accumulator);
}

} // namespace

// This is declared extern because a const object would be internal to this file.
extern const BodyKernels topkKernels;
const BodyKernels topkKernels = {encodeTopk, decodeTopk, accumulateTopk};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();
#endif
