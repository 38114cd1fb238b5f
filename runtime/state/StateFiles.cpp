//===-- state/StateFiles.cpp - Codec state in mapped files ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/StateFiles.h"

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace cgx {

/// Opens a file without a name in a folder; returns -1, with errno, if that is impossible.
static int openUnnamed(const std::string &folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return file;
  // On file systems that do not support that, the file has a name for a moment.
  std::string path = folder + "/cgx-messages-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0)
    ::unlink(path.c_str());
  return named;
}

static Status failed(const std::string &folder, uint64_t bytes, int error) {
  return Status::error(error == ENOSPC || error == ENOMEM ? CGX_RESOURCE_EXHAUSTED : CGX_INVALID_ARGUMENT,
                       "messages: expected a file of ", bytes, " bytes in the folder '", folder,
                       "', got: ", formats::systemErrorText(error));
}

/// Reserves all bytes of a file, which are 0 then; returns an errno, or 0. If the file system cannot reserve,
/// the bytes are written, so the free space is checked first.
static int reserve(int file, uint64_t bytes) {
  struct statvfs fileSystem{};
  if (::fstatvfs(file, &fileSystem) != 0)
    return errno;
  if (bytes / fileSystem.f_frsize >= fileSystem.f_bavail)
    return ENOSPC;
  return ::posix_fallocate(file, 0, off_t(bytes));
}

Result<StateMemory> mapFile(const std::string &folder, uint64_t bytes) {
  if (bytes == 0)
    return StateMemory();
  const int file = openUnnamed(folder);
  if (file < 0)
    return failed(folder, bytes, errno);
  int error = reserve(file, bytes);
  void *begin = error ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!error && begin == MAP_FAILED)
    error = errno;
  ::close(file);
  if (error)
    return failed(folder, bytes, error);
  return StateMemory(std::unique_ptr<std::byte, Unmap>(static_cast<std::byte *>(begin), Unmap{bytes}));
}

StateMemory StateMemorySource::take(uint64_t bytes) {
  if (folder.empty() || !failure.ok())
    return StateMemory(failure.ok() ? bytes : 0);
  Result<StateMemory> memory = mapFile(folder, bytes);
  if (memory.ok())
    return std::move(*memory);
  failure = memory.status();
  return StateMemory();
}

} // namespace cgx
