//===-- transport/tcp/Frame.cpp - Frames of a stream ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

namespace cgx::tcp {

/// Parts are multiples of this; shorter messages are not worth a second stream.
static constexpr uint64_t kUnit = 256 * 1024;

Part partOf(uint64_t total, uint32_t streams, uint32_t stream) {
  const uint64_t units = total / kUnit;
  if (streams == 1 || units < 2)
    return stream == 0 ? Part{0, total} : Part{total, 0};
  auto begin = [&](uint64_t index) { return index == streams ? total : units * index / streams * kUnit; };
  return {begin(stream), begin(stream + 1) - begin(stream)};
}

void FrameWriter::put(const FrameHeader &header, std::vector<std::span<const std::byte>> pieces,
                      uint32_t *parts) {
  Frame &frame = frames.emplace_back(Frame{header, {}, parts});
  frame.left.reserve(pieces.size() + 1);
  frame.left.push_back(std::as_bytes(std::span(&frame.header, 1)));
  frame.left.insert(frame.left.end(), pieces.begin(), pieces.end());
}

uint64_t FrameWriter::push(Channel &channel, uint64_t budget) {
  uint64_t pushed = 0;
  while (!frames.empty() && pushed < budget) {
    Frame &frame = frames.front();
    const Channel::Moved moved = channel.write(frame.left);
    if (moved.bytes == 0)
      break;
    pushed += moved.bytes;
    advance(frame.left, moved.bytes);
    while (!frame.left.empty() && frame.left.front().empty())
      frame.left.erase(frame.left.begin());
    if (!frame.left.empty())
      continue;
    --*frame.parts;
    frames.pop_front();
  }
  return pushed;
}

bool FrameReader::readHeader(Channel &channel, uint64_t &moved) {
  std::span<std::byte> bytes = std::as_writable_bytes(std::span(&current, 1));
  while (headerBytes < bytes.size()) {
    const Channel::Moved read = channel.read(bytes.subspan(headerBytes));
    if (read.bytes == 0)
      return false;
    headerBytes += read.bytes;
    moved += read.bytes;
  }
  return true;
}

void FrameReader::place(std::vector<std::span<std::byte>> pieces) {
  placed = true;
  left = std::move(pieces);
}

bool FrameReader::readBytes(Channel &channel, uint64_t budget, uint64_t &moved) {
  uint64_t done = 0;
  while (!left.empty()) {
    if (done >= budget)
      return false;
    const Channel::Moved read = channel.read(left);
    if (read.bytes == 0)
      return false;
    done += read.bytes;
    moved += read.bytes;
    advance(left, read.bytes);
  }
  placed = false;
  headerBytes = 0;
  return true;
}

} // namespace cgx::tcp
