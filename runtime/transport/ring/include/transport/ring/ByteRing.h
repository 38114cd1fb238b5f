//===-- transport/ring/ByteRing.h - A ring of bytes between two ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two ends of a single-producer single-consumer ring of bytes. Each end keeps its own position in private
// memory and checks what it reads from shared memory: a peer that overwrites it causes an error, not a wild
// copy.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_BYTERING_H
#define CGX_RUNTIME_TRANSPORT_RING_BYTERING_H

#include "transport/ring/Segment.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace cgx {

class RingWriter {
public:
  RingWriter() = default;
  RingWriter(RingControl &control, std::byte *data, uint64_t capacity)
      : control(&control), data(data), capacity(capacity) {}

  /// Returns true if `bytes` bytes can be written now.
  bool hasSpace(uint64_t bytes) {
    if (capacity - (tail - head) < bytes)
      head = control->head.load();
    return tail - head <= capacity && capacity - (tail - head) >= bytes;
  }

  /// Copies as much of `bytes` as fits; the receiver sees it after publish().
  size_t write(std::span<const std::byte> bytes) {
    if (bytes.empty() || (!hasSpace(bytes.size()) && !hasSpace(1)))
      return 0;
    size_t count = std::min<uint64_t>(bytes.size(), capacity - (tail - head));
    uint64_t at = tail & (capacity - 1);
    size_t first = std::min<uint64_t>(count, capacity - at);
    std::memcpy(data + at, bytes.data(), first);
    std::memcpy(data, bytes.data() + first, count - first);
    tail += count;
    return count;
  }

  /// Shows the written bytes to the receiver. Returns false if there were none.
  bool publish() {
    if (published == tail)
      return false;
    control->tail.store(published = tail);
    return true;
  }

private:
  RingControl *control = nullptr;
  std::byte *data = nullptr;
  uint64_t capacity = 0;
  uint64_t tail = 0;
  uint64_t published = 0;
  uint64_t head = 0; ///< the receiver's position when last read
};

class RingReader {
public:
  RingReader() = default;
  RingReader(RingControl &control, std::byte *data, uint64_t capacity)
      : control(&control), data(data), capacity(capacity) {}

  /// Returns the number of bytes that can be read now.
  uint64_t available() {
    if (tail - head < kMinRingBytes)
      tail = control->tail.load();
    return tail - head;
  }

  /// Returns true if the sender's position is impossible, because the memory was damaged.
  bool corrupt() const { return tail - head > capacity; }

  /// Reads up to `bytes.size()` bytes; the sender may reuse their space after release().
  size_t read(std::span<std::byte> bytes) {
    size_t count = std::min<uint64_t>(bytes.size(), available());
    if (count == 0 || corrupt())
      return 0;
    uint64_t at = head & (capacity - 1);
    size_t first = std::min<uint64_t>(count, capacity - at);
    std::memcpy(bytes.data(), data + at, first);
    std::memcpy(bytes.data() + first, data, count - first);
    head += count;
    return count;
  }

  /// Gives the bytes read so far back to the sender. Returns false if there were none.
  bool release() {
    if (released == head)
      return false;
    control->head.store(released = head);
    return true;
  }

private:
  RingControl *control = nullptr;
  std::byte *data = nullptr;
  uint64_t capacity = 0;
  uint64_t head = 0;
  uint64_t released = 0;
  uint64_t tail = 0; ///< the sender's position when last read
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_BYTERING_H
