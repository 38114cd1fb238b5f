//===-- SourceFile.cpp - Files with modules ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/SourceFile.h"

#include "cgx/formats/InputFile.h"
#include "cgx/formats/SystemError.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

static constexpr uint64_t kMostBytes = uint64_t{4} << 30, kMostBytesOfDevice = 1 << 20;

/// Returns all bytes of an open file, or nothing with the reason.
static std::optional<SmallVector<char, 0>> readAll(int file, std::string &why) {
  struct stat info{};
  if (::fstat(file, &info) != 0) {
    why = cgx::formats::systemErrorText(errno);
    return std::nullopt;
  }
  const bool isDevice = S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !::isatty(file));
  const uint64_t most = isDevice ? kMostBytesOfDevice : kMostBytes;
  SmallVector<char, 0> bytes;
  if (S_ISREG(info.st_mode) && uint64_t(info.st_size) <= most)
    bytes.reserve(size_t(info.st_size) + 1);
  std::array<char, 1 << 16> piece{};
  while (bytes.size() <= most && !(S_ISREG(info.st_mode) && uint64_t(info.st_size) > most)) {
    const ssize_t count = ::read(file, piece.data(), piece.size());
    if (count == 0)
      return bytes;
    if (count > 0) {
      bytes.append(piece.data(), piece.data() + count);
    } else if (errno != EINTR) {
      why = cgx::formats::systemErrorText(errno);
      return std::nullopt;
    }
  }
  why =
      "expected at most " + std::to_string(most) + " bytes" + (isDevice ? " of a device" : "") + ", got more";
  return std::nullopt;
}

std::unique_ptr<MemoryBuffer> cgx::readSourceFile(const std::string &path, std::string &why) {
  const bool isStandardInput = path == "-";
  const int file = isStandardInput ? STDIN_FILENO : formats::openInput(path, formats::InputKind::Stream, why);
  if (file < 0)
    return nullptr;
  std::optional<SmallVector<char, 0>> bytes = readAll(file, why);
  if (!isStandardInput)
    ::close(file);
  if (!bytes)
    return nullptr;
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(*bytes), isStandardInput ? "<stdin>" : path,
                                                   /*RequiresNullTerminator=*/true);
}
