//===-- Checksum.cpp - The checksum of a payload --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/checksum.h"

#include "cgx/arithmetic/random.h"

namespace cgx {
uint64_t checksum(const void *data, uint64_t bytes) {
  const char *begin = static_cast<const char *>(data);
  const uint64_t words = bytes / 8;
  uint64_t sum = bytes;
  for (uint64_t i = 0; i < words; ++i) {
    uint64_t word;
    memcpy(&word, begin + i * 8, sizeof word);
    sum += mixChecksumWord(word, i + 1);
  }
  if (bytes % 8 != 0) {
    uint64_t word = 0;
    memcpy(&word, begin + words * 8, bytes % 8);
    sum += mixChecksumWord(word, words + 1);
  }
  return mixBits(sum);
}

} // namespace cgx
