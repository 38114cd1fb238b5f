//===-- ProgramHash.cpp - The hash of a program ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// XXH3 as its specification defines it (https://github.com/Cyan4973/xxHash). Compilers of earlier versions
// wrote it into manifests, and checkpoints and plans contain it.

#include "ProgramHash.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace cgx::layers {

namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

constexpr uint64_t kPrime1 = 0x9e3779b185ebca87, kPrime2 = 0xc2b2ae3d27d4eb4f, kPrime3 = 0x165667b19e3779f9,
                   kPrime4 = 0x85ebca77c2b2ae63, kPrime5 = 0x27d4eb2f165667c5, kShort1 = 0x9e3779b1,
                   kShort2 = 0x85ebca77, kShort3 = 0xc2b2ae3d, kMixing = 0x165667919e3779f9;

/// The secret of the specification, which is mixed with input when there is no seed.
constexpr std::array<uint64_t, 24> kSecretWords = {
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb,
    0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c, 0xa32e531b8b65d088,
    0x4ef90da297486471, 0xd8acdea946ef1938, 0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a,
    0x647378d9c97e9fc8, 0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
    0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};
constexpr size_t kSecretBytes = sizeof(kSecretWords), kStripe = 64, kLanes = 8;

uint64_t wordAt(const char *bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

uint64_t secretAt(size_t byte) { return wordAt(reinterpret_cast<const char *>(kSecretWords.data()) + byte); }

/// Returns the exclusive or of the two halves of the 128-bit product.
uint64_t fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return uint64_t(product) ^ uint64_t(product >> 64);
}

uint64_t avalanche(uint64_t hash) {
  hash ^= hash >> 37;
  hash *= kMixing;
  return hash ^ hash >> 32;
}

/// Mixes 16 bytes.
uint64_t mix(const char *bytes, size_t secret) {
  return fold(wordAt(bytes) ^ secretAt(secret), wordAt(bytes + 8) ^ secretAt(secret + 8));
}

/// Hashes 17 to 128 bytes, from both ends to the middle.
uint64_t hashShort(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  uint64_t hash = text.size() * kPrime1;
  for (size_t pair = (text.size() - 1) / 32 + 1; pair-- > 0;)
    hash += mix(begin + 16 * pair, 32 * pair) + mix(end - 16 * (pair + 1), 32 * pair + 16);
  return avalanche(hash);
}

/// Hashes 129 to 240 bytes.
uint64_t hashMedium(std::string_view text) {
  uint64_t hash = text.size() * kPrime1;
  for (size_t block = 0; block < 8; ++block)
    hash += mix(text.data() + 16 * block, 16 * block);
  hash = avalanche(hash);
  for (size_t block = 8; block < text.size() / 16; ++block)
    hash += mix(text.data() + 16 * block, 16 * (block - 8) + 3);
  return avalanche(hash + mix(text.data() + text.size() - 16, /*of the shortest secret=*/136 - 17));
}

using Lanes = std::array<uint64_t, kLanes>;

void accumulate(Lanes &lanes, const char *stripe, size_t secret) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const uint64_t word = wordAt(stripe + 8 * lane), key = word ^ secretAt(secret + 8 * lane);
    lanes[lane ^ 1] += word;
    lanes[lane] += (key & 0xffffffff) * (key >> 32);
  }
}

uint64_t hashLong(std::string_view text) {
  constexpr size_t stripes = (kSecretBytes - kStripe) / 8; // stripes of a block
  Lanes lanes = {kShort3, kPrime1, kPrime2, kPrime3, kPrime4, kShort2, kPrime5, kShort1};
  // This loop covers all stripes but the last, which may overlap the one before.
  const size_t whole = (text.size() - 1) / kStripe;
  for (size_t stripe = 0; stripe < whole; ++stripe) {
    accumulate(lanes, text.data() + stripe * kStripe, stripe % stripes * 8);
    if (stripe % stripes == stripes - 1)
      for (size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] =
            (lanes[lane] ^ lanes[lane] >> 47 ^ secretAt(kSecretBytes - kStripe + 8 * lane)) * kShort1;
  }
  accumulate(lanes, text.data() + text.size() - kStripe, kSecretBytes - kStripe - 7);
  uint64_t hash = text.size() * kPrime1;
  for (size_t lane = 0; lane < kLanes; lane += 2)
    hash += fold(lanes[lane] ^ secretAt(11 + 8 * lane), lanes[lane + 1] ^ secretAt(19 + 8 * lane));
  return avalanche(hash);
}

} // namespace

std::string programHash(std::string_view text) {
  uint64_t hash = text.size() <= 128   ? hashShort(text)
                  : text.size() <= 240 ? hashMedium(text)
                                       : hashLong(text);
  std::string digits(16, '0');
  for (size_t i = digits.size(); i-- > 0; hash >>= 4)
    digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

} // namespace cgx::layers
