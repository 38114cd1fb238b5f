//===-- OutputFile.cpp - Writes output files --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/output/OutputFile.h"

#include "cgx/formats/SystemError.h"

#include "Destination.h"
#include "UnfinishedFile.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace cgx::output;
using cgx::FileMode;
using Pieces = std::span<const std::span<const std::byte>>;

namespace {

std::string failure(const std::string &path) {
  return "cannot write '" + path + "': " + cgx::formats::systemErrorText(errno);
}

bool writeAll(int fd, Pieces pieces) {
  for (std::span<const std::byte> piece : pieces)
    while (!piece.empty()) {
      const ssize_t written = ::write(fd, piece.data(), piece.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return false;
      piece = piece.subspan(static_cast<size_t>(written));
    }
  return true;
}

/// Blocks SIGPIPE: a reader that has gone is an error of this file, and must not end a process that has
/// others to write.
class NoPipeSignal {
public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~NoPipeSignal() {
    const int reason = errno;
    const timespec now = {};
    if (!::sigismember(&old_, SIGPIPE)) {
      ::sigtimedwait(&pipe_, nullptr, &now);
      ::pthread_sigmask(SIG_SETMASK, &old_, nullptr);
    }
    errno = reason;
  }

private:
  sigset_t pipe_, old_;
};

bool writeStraight(int fd, Pieces pieces) {
  NoPipeSignal none;
  return writeAll(fd, pieces);
}

std::string writeToDevice(const Destination &destination, const std::string &path, Pieces pieces) {
  const int fd = ::open(destination.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return failure(path);
  const bool written = writeStraight(fd, pieces);
  const std::string error = written ? "" : failure(path);
  if (::close(fd) != 0 && written)
    return failure(path);
  return error;
}

/// Makes a rename survive a loss of power. If folders cannot be synchronized, nothing can be done.
void synchronise(const std::string &folder) {
  if (const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
    (void)::fsync(fd);
    ::close(fd);
  }
}

/// Gives a file the owner of the one that it replaces, if that is allowed, and its permissions. Whoever may
/// read a program may run it.
bool takeOver(int fd, const struct stat &old, cgx::FileMode mode) {
  if ((old.st_uid != ::geteuid() || old.st_gid != ::getegid()) && ::fchown(fd, old.st_uid, old.st_gid) != 0 &&
      errno != EPERM)
    return false;
  const mode_t runs = mode == cgx::FileMode::Program ? (old.st_mode & 0444) >> 2 : 0;
  return ::fchmod(fd, (old.st_mode & 0777) | runs) == 0;
}

std::string replace(const Destination &destination, const std::string &path, Pieces pieces, FileMode mode) {
  UnfinishedFile file(destination.path, static_cast<unsigned>(mode));
  struct stat old;
  if (!file.isOpen() || (mode == FileMode::Private && ::fchmod(file.get(), 0600) != 0) ||
      !writeAll(file.get(), pieces) ||
      (destination.kind == Kind::Regular && ::stat(destination.path.c_str(), &old) == 0 &&
       !takeOver(file.get(), old, mode)) ||
      ::fsync(file.get()) != 0 || !file.moveTo(destination.path))
    return failure(path);
  synchronise(folderOf(destination.path));
  return "";
}

} // namespace

std::string cgx::writeOutput(const std::string &path, Pieces pieces, FileMode mode) {
  const Destination destination = resolve(path);
  switch (destination.kind) {
  case Kind::Unreachable:
    errno = destination.reason;
    return failure(path);
  case Kind::Descriptor:
    return writeStraight(destination.descriptor, pieces) ? "" : failure(path);
  case Kind::Device:
    return writeToDevice(destination, path, pieces);
  case Kind::Regular:
  case Kind::New:
    break;
  }
  return replace(destination, path, pieces, mode);
}

std::string cgx::writeOutput(const std::string &path, std::string_view text, FileMode mode) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  return writeOutput(path, Pieces(&piece, 1), mode);
}

std::string cgx::checkOutput(const std::string &path) {
  const Destination destination = resolve(path);
  errno = destination.reason;
  if (destination.kind == Kind::Unreachable)
    return failure(path);
  if (destination.kind == Kind::Descriptor)
    return ::fcntl(destination.descriptor, F_GETFD) >= 0 ? "" : failure(path);
  if (destination.kind == Kind::Device)
    return ::access(destination.path.c_str(), W_OK) == 0 ? "" : failure(path);
  const std::string folder = folderOf(destination.path);
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0 || ::access(folder.c_str(), W_OK) != 0)
    return "cannot write '" + path + "': folder '" + folder + "': " + cgx::formats::systemErrorText(errno);
  if (!S_ISDIR(status.st_mode))
    return "cannot write '" + path + "': '" + folder + "' is no folder";
  return "";
}

bool cgx::isStandardOutput(const std::string &path) {
  if (path.empty())
    return false;
  const Destination destination = resolve(path);
  return destination.kind == Kind::Descriptor && destination.descriptor == STDOUT_FILENO;
}

bool cgx::isSameFile(const std::string &path, const std::string &other) {
  const Destination one = resolve(path), two = resolve(other);
  auto isReplaced = [](const Destination &destination) {
    return destination.kind == Kind::Regular || destination.kind == Kind::New;
  };
  if (!isReplaced(one) || !isReplaced(two))
    return false;
  // Compares entries, not files: each of two names of one file is replaced by itself.
  std::error_code none;
  return std::filesystem::path(one.path).filename() == std::filesystem::path(two.path).filename() &&
         std::filesystem::equivalent(folderOf(one.path), folderOf(two.path), none);
}

std::string cgx::appendOutput(int descriptor, const std::string &path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return writeStraight(descriptor, {&bytes, 1}) ? "" : failure(path);
}

std::FILE *cgx::streamBeside(std::span<const std::string> outputs) {
  return std::any_of(outputs.begin(), outputs.end(), isStandardOutput) ? stderr : stdout;
}

void cgx::removeUnfinishedOutput() noexcept { UnfinishedFile::removeCurrent(); }
