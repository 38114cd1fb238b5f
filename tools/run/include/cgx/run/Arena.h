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

/// One zeroed mapping with a buffer of each size, 64-byte aligned; made of huge
/// pages where the system has them. Nothing is allocated after construction.
class Arena {
public:
  /// Throws Error when there is no memory.
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
