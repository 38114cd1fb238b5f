//===-- transport/tcp/Note.cpp - Short words between ranks ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/Note.h"

#include <cstring>

namespace cgx::tcp {

std::vector<std::byte> encode(const Note &note) {
  const std::string text = note.text.substr(0, NoteHeader::kLongestText);
  NoteHeader header;
  header.kind = uint16_t(note.kind);
  header.textBytes = uint16_t(text.size());
  header.code = uint32_t(note.code);
  std::vector<std::byte> bytes(sizeof header + text.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, text.data(), text.size());
  return bytes;
}

Note failureNote(const Status &reason, NoteKind kind) {
  return {.kind = kind, .code = reason.getCode(), .text = reason.message()};
}

std::span<std::byte> NoteReader::incoming() { return std::span(buffer).subspan(have); }

static Result<NoteHeader> checked(std::span<const std::byte> bytes) {
  NoteHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool isKnown = header.kind >= uint16_t(NoteKind::Alive) && header.kind <= uint16_t(NoteKind::Heard);
  if (header.magic != NoteHeader::kMagic || !isKnown || header.textBytes > NoteHeader::kLongestText)
    return Status(CGX_INTERNAL, "expected a note, got other bytes");
  return header;
}

Result<bool> NoteReader::received(uint64_t bytes, Note &note) {
  have += bytes;
  if (have < buffer.size())
    return false;
  Result<NoteHeader> header = checked(buffer);
  if (!header.ok())
    return header.status();
  if (buffer.size() == sizeof(NoteHeader) && header->textBytes != 0) {
    buffer.resize(sizeof(NoteHeader) + header->textBytes);
    return false;
  }
  note.kind = NoteKind(header->kind);
  // Who says that it has failed has, whatever stands there as the reason.
  const bool isReason = header->code > CGX_OK && header->code <= CGX_INTERNAL;
  const bool isFailure = note.kind == NoteKind::Failed || note.kind == NoteKind::Heard;
  note.code = !isFailure ? CGX_OK : isReason ? cgx_status(header->code) : CGX_INTERNAL;
  note.text.assign(reinterpret_cast<const char *>(buffer.data()) + sizeof(NoteHeader), header->textBytes);
  buffer.resize(sizeof(NoteHeader));
  have = 0;
  return true;
}

} // namespace cgx::tcp
