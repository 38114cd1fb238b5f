//===-- transport/tcp/Frame.h - Frames of a stream --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream is a connection for data: a sequence of frames, each a header and its bytes. A long message is
// divided into one part per stream; an eager message is one frame, on the stream of its lane.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_FRAME_H
#define CGX_RUNTIME_TRANSPORT_TCP_FRAME_H

#include "Channel.h"
#include "transport/Tag.h"

#include <deque>

namespace cgx::tcp {

enum class FrameKind : uint32_t { Message = 1, EagerMessage = 2 };

struct FrameHeader {
  static constexpr uint32_t kMagic = 0x46584743; // "CGXF"

  uint32_t magic = kMagic;
  FrameKind kind = FrameKind::Message;
  Tag tag;
  uint64_t sequence = 0; ///< number of the message between the two ranks
  uint64_t total = 0;    ///< bytes of the whole message
  uint64_t offset = 0;   ///< offset of this part in it
  uint64_t bytes = 0;    ///< bytes of this part
};
static_assert(sizeof(FrameHeader) == 56);

/// The part of a message that one stream carries. A short message is carried by the first stream alone.
struct Part {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};
Part partOf(uint64_t total, uint32_t streams, uint32_t stream);

/// Returns `bytes` bytes, from `offset` on, of the concatenation of the pieces.
template <typename Byte>
std::vector<std::span<Byte>> slice(std::span<const std::span<Byte>> pieces, uint64_t offset, uint64_t bytes) {
  std::vector<std::span<Byte>> found;
  for (std::span<Byte> piece : pieces) {
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const uint64_t count = std::min<uint64_t>(piece.size() - offset, bytes);
    if (count == 0)
      break;
    found.push_back(piece.subspan(offset, count));
    bytes -= count;
    offset = 0;
  }
  return found;
}

/// Drops the first bytes of a list of pieces.
template <typename Byte> void advance(std::vector<std::span<Byte>> &pieces, uint64_t bytes) {
  size_t whole = 0;
  while (whole < pieces.size() && bytes >= pieces[whole].size())
    bytes -= pieces[whole++].size();
  pieces.erase(pieces.begin(), pieces.begin() + ptrdiff_t(whole));
  if (!pieces.empty())
    pieces.front() = pieces.front().subspan(bytes);
}

/// Sends frames in the order in which they were put.
class FrameWriter {
public:
  /// Queues a frame. `parts` is decremented when the frame has been handed to the system; the pieces must
  /// stay until then.
  void put(const FrameHeader &header, std::vector<std::span<const std::byte>> pieces, uint32_t *parts);
  bool isEmpty() const { return frames.empty(); }
  void clear() { frames.clear(); }

  /// Writes about `budget` bytes at most, without waiting. Returns the number of bytes written.
  uint64_t push(Channel &channel, uint64_t budget);

private:
  struct Frame {
    FrameHeader header;
    std::vector<std::span<const std::byte>> left; ///< the header comes first
    uint32_t *parts;
  };
  std::deque<Frame> frames; ///< a deque, so that headers do not move
};

/// Receives frames. The caller tells where the bytes of each frame go.
class FrameReader {
public:
  /// Continues reading the header; returns true when it is complete and its bytes have no place yet.
  bool readHeader(Channel &channel, uint64_t &moved);
  const FrameHeader &header() const { return current; }
  void place(std::vector<std::span<std::byte>> pieces);

  bool hasPlace() const { return placed; }
  /// Reads bytes into their place, about `budget` at most. Returns true when the frame is complete; then the
  /// next one begins.
  bool readBytes(Channel &channel, uint64_t budget, uint64_t &moved);

private:
  FrameHeader current;
  uint64_t headerBytes = 0; ///< bytes of it that have arrived
  bool placed = false;
  std::vector<std::span<std::byte>> left;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_FRAME_H
