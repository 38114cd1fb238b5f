//===-- Random-inl.h - random.h in vectors ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_RANDOM) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_RANDOM
#undef CGX_KERNELS_CPU_SIMD_RANDOM
#else
#define CGX_KERNELS_CPU_SIMD_RANDOM
#endif

#include "Vectors-inl.h"
#include "cgx/arithmetic/random.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Computes randomWord() of every counter, which already includes the stream's offset.
HWY_INLINE WordVector randomWords(WordVector counters, uint32_t twist) {
  const Words words;
  WordVector x = counters;
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(words, 0x7feb352du));
  x = hn::Mul(hn::Xor3(x, hn::ShiftRight<15>(x), hn::Set(words, twist)), hn::Set(words, 0x846ca68bu));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

/// The stream of a key, which is kept as long as the words asked for belong to it.
class RandomCursor {
public:
  explicit RandomCursor(RandomKey key) : key(key), high(0), stream(makeRandomStream(key, 0)) {}

  /// Moves to the stream of the words of [element, element + elements). Returns false if they belong to two
  /// streams, which happens once in 2^37 elements.
  bool seek(uint64_t element, uint64_t elements) {
    const uint64_t word = randomWordIndex(element);
    if (word >> 32 != high) {
      high = word >> 32;
      stream = makeRandomStream(key, word);
    }
    return randomWordIndex(element + elements - 1) >> 32 == high;
  }

  /// Returns the counters of the row that starts at `element`, a multiple of 32.
  HWY_INLINE WordVector counters(uint64_t element) const {
    return hn::Iota(Words(), uint32_t(element / 2) + stream.offset);
  }

  uint32_t twist() const { return stream.twist; }

private:
  RandomKey key;
  uint64_t high;
  RandomStream stream;
};

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
