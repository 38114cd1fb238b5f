//===-- transport/tcp/Note.h - Short words between ranks ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ranks have to tell each other besides data: that one still waits, leaves, has failed; and the answers
// while they come together.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_NOTE_H
#define CGX_RUNTIME_TRANSPORT_TCP_NOTE_H

#include "status/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cgx::tcp {

enum class NoteKind : uint16_t {
  Alive = 1, ///< waits for others
  Leaving = 2,
  Failed = 3,
  Welcome = 4,
  Ready = 5,
  Running = 6, ///< its process runs, whatever it does
  Heard = 7,   ///< another rank has failed, as the text says
};

struct Note {
  NoteKind kind = NoteKind::Alive;
  cgx_status code = CGX_OK; ///< Failed and Heard: why, never CGX_OK
  std::string text;
};

/// What a note begins with; the text follows.
struct NoteHeader {
  static constexpr uint32_t kMagic = 0x4e584743; // "CGXN"
  static constexpr uint32_t kLongestText = 2048;

  uint32_t magic = kMagic;
  uint16_t kind = 0;
  uint16_t textBytes = 0;
  uint32_t code = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(NoteHeader) == 16);

/// A note as it travels; what is too long of its text is cut off.
std::vector<std::byte> encode(const Note &note);
/// That a rank has failed, by itself or because it heard so of another.
Note failureNote(const Status &reason, NoteKind kind = NoteKind::Failed);

/// Makes notes of bytes that come as they come.
class NoteReader {
public:
  /// Where the next bytes are to be read; never empty.
  std::span<std::byte> incoming();
  /// True when `note` is one that has come whole.
  Result<bool> received(uint64_t bytes, Note &note);

private:
  std::vector<std::byte> buffer = std::vector<std::byte>(sizeof(NoteHeader));
  uint64_t have = 0;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_NOTE_H
