//===-- random.h - Counter-based random numbers -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The random numbers of stochastic rounding are a pure function of (seed, step, layer, rank, phase, element).
// So they do not depend on the machine, the number of threads or the order of work. One 32-bit word serves
// two elements:
//
//   element e  ->  word (e / 32) * 16 + e % 16, its low half when e / 16 is even,
//                  its high half when it is odd
//
// So two vectors of 16 elements, merged into 32-bit lanes, meet their word without a shuffle.
#ifndef CGX_ARITHMETIC_RANDOM_H
#define CGX_ARITHMETIC_RANDOM_H

#include "cgx/arithmetic/device.h"

namespace cgx {

/// The key of a stream of random numbers.
struct RandomKey {
  uint64_t value;
};

/// Mixes every bit of a 64-bit integer into every other; a bijection (the finalizer of SplitMix64, Stafford's
/// variant 13).
CGX_DEVICE_INLINE uint64_t mixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Returns the key of one encoding. `phase` tells a rank's own contribution from the result that it encodes
/// as the owner of a chunk.
CGX_DEVICE_INLINE RandomKey makeRandomKey(uint64_t seed, uint64_t step, uint64_t layerId, uint64_t rank,
                                          uint64_t phase) {
  constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;
  uint64_t x = mixBits(seed + golden);
  x = mixBits(x + golden + step);
  x = mixBits(x + golden + layerId);
  x = mixBits(x + golden + rank);
  x = mixBits(x + golden + phase);
  return RandomKey{x};
}

/// The part of a key that is the same for 2^32 words.
struct RandomStream {
  uint32_t offset; ///< added to the counter
  uint32_t twist;  ///< mixed in between the multiplications
};

CGX_DEVICE_INLINE RandomStream makeRandomStream(RandomKey key, uint64_t word) {
  uint64_t x = mixBits(key.value + (word >> 32) * 0x9e3779b97f4a7c15ull);
  return RandomStream{uint32_t(x), uint32_t(x >> 32)};
}

/// Hashes an integer with two multiplications (the constants of lowbias32). The twist keeps two keys from
/// running through one sequence at different places.
CGX_DEVICE_INLINE uint32_t randomWord(RandomStream stream, uint32_t counter) {
  uint32_t x = counter + stream.offset;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15) ^ stream.twist) * 0x846ca68bu;
  return x ^ (x >> 16);
}

CGX_DEVICE_INLINE uint64_t randomWordIndex(uint64_t element) { return (element >> 5) * 16 + (element & 15); }

/// Returns 16 random bits for one element.
CGX_DEVICE_INLINE uint16_t randomHalf(RandomKey key, uint64_t element) {
  uint64_t index = randomWordIndex(element);
  uint32_t word = randomWord(makeRandomStream(key, index), uint32_t(index));
  return uint16_t(word >> (element & 16));
}

} // namespace cgx

#endif // CGX_ARITHMETIC_RANDOM_H
