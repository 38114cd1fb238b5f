//===-- test/fuzz/Bytes.h - A fuzzer's input, taken piece by piece ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_FUZZ_BYTES_H
#define CGX_TEST_FUZZ_BYTES_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

/// A source of numbers from the front of the input, and of zeros once it is used up. The rest of the input is
/// the material.
class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : left(data, size) {}

  template <typename T> T take() {
    T value{};
    size_t size = std::min(sizeof(value), left.size());
    if (size != 0)
      std::memcpy(&value, left.data(), size);
    left = left.subspan(size);
    return value;
  }

  /// Returns a number between `least` and `most`.
  uint32_t between(uint32_t least, uint32_t most) {
    return least + uint32_t(take<uint32_t>() % (uint64_t(most) - least + 1));
  }

  std::span<const uint8_t> rest() const { return left; }
  std::string_view text() const { return {reinterpret_cast<const char *>(left.data()), left.size()}; }

private:
  std::span<const uint8_t> left;
};

#endif // CGX_TEST_FUZZ_BYTES_H
