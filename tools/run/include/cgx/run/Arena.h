//===-- cgx/run/Arena.h - The buffers of one rank ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_ARENA_H
#define CGX_RUN_ARENA_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cgx::run {

/// A zeroed mapping with one 64-byte aligned buffer of each size. It uses huge pages where the system has
/// them, and allocates nothing after construction.
class Arena {
public:
  /// Throws Error when there is not enough memory.
  explicit Arena(const std::vector<uint64_t> &sizes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  std::byte *buffer(size_t index) const { return base_ + offsets_[index]; }

private:
  std::vector<uint64_t> offsets_;
  uint64_t bytes_ = 0;
  std::byte *base_ = nullptr;
};

} // namespace cgx::run

#endif // CGX_RUN_ARENA_H
