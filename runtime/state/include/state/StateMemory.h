//===-- state/StateMemory.h - Memory of codec state -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_STATEMEMORY_H
#define CGX_RUNTIME_STATE_STATEMEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cgx {

/// Unmaps memory.
struct Unmap {
  uint64_t bytes;
  void operator()(std::byte *begin) const;
};

/// Bytes that are 0 at first, on the heap or in a mapped file (StateFiles.h). Moving the object moves no
/// byte.
class StateMemory {
public:
  explicit StateMemory(uint64_t bytes = 0) : heap(bytes) {}
  explicit StateMemory(std::unique_ptr<std::byte, Unmap> mapping) : mapping(std::move(mapping)) {}

  std::byte *data() { return mapping ? mapping.get() : heap.data(); }
  const std::byte *data() const { return mapping ? mapping.get() : heap.data(); }

private:
  std::vector<std::byte> heap;
  std::unique_ptr<std::byte, Unmap> mapping; ///< used instead of `heap`
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_STATEMEMORY_H
