//===-- SourceFile.cpp - files with modules ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/SourceFile.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

static constexpr uint64_t kMostBytes = uint64_t{4} << 30, kMostBytesOfDevice = 1 << 20;
/// For so long a pipe may lack a writer, who opens it at about the same time.
static constexpr int kWriterMs = 2000;

namespace {

class SourceReader {
public:
  /// A file that was opened without waiting, or one that waits itself, as standard input does.
  SourceReader(int file, bool waits, std::string &why) : file(file), why(why), hasWaited(waits) {}

  bool run() {
    struct stat info{};
    if (::fstat(file, &info) != 0)
      return fail(std::strerror(errno));
    const bool isDevice = S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !::isatty(file));
    const uint64_t most = isDevice ? kMostBytesOfDevice : kMostBytes;
    if (S_ISREG(info.st_mode) && uint64_t(info.st_size) <= most)
      bytes.reserve(size_t(info.st_size) + 1);
    if (S_ISREG(info.st_mode) && uint64_t(info.st_size) > most)
      return failLong(most, info);
    std::array<char, 1 << 16> piece{};
    while (bytes.size() <= most) {
      const ssize_t count = ::read(file, piece.data(), piece.size());
      if (count > 0)
        bytes.append(piece.data(), piece.data() + count);
      else if (count < 0 && errno == EAGAIN)
        await(-1); // for somebody who has it open
      else if (count == 0 && bytes.empty() && S_ISFIFO(info.st_mode) && !hasWaited)
        hasWaited = awaitWriter();
      else if (count == 0)
        return bytes.empty() && isAlone
                   ? fail("expected text or bytecode of MLIR, got a pipe that nobody writes to")
                   : true;
      else if (errno != EINTR)
        return fail(std::strerror(errno));
    }
    return failLong(most, info);
  }

  SmallVector<char, 0> bytes;

private:
  bool fail(const char *reason) {
    why = reason;
    return false;
  }

  bool failLong(uint64_t most, const struct stat &info) {
    why = "expected at most " + std::to_string(most) + " bytes" +
          (S_ISCHR(info.st_mode) ? " of a device, got more" : ", got more");
    return false;
  }

  /// Whether something came, or who writes has left.
  bool await(int milliseconds) {
    pollfd event{file, POLLIN, 0};
    return ::poll(&event, 1, milliseconds) > 0;
  }

  bool awaitWriter() {
    isAlone = !await(kWriterMs);
    return true;
  }

  int file;
  std::string &why;
  bool hasWaited, isAlone = false;
};

} // namespace

std::unique_ptr<MemoryBuffer> cgx::readSourceFile(const std::string &path, std::string &why) {
  const bool isStandardInput = path == "-";
  // Not to wait for whoever writes: a pipe may have nobody.
  const int file =
      isStandardInput ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    why = std::strerror(errno);
    return nullptr;
  }
  SourceReader reader(file, /*waits=*/isStandardInput, why);
  const bool isRead = reader.run();
  if (!isStandardInput)
    ::close(file);
  if (!isRead)
    return nullptr;
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(reader.bytes),
                                                   isStandardInput ? "<stdin>" : path,
                                                   /*RequiresNullTerminator=*/true);
}
