//===-- cgx/run/FileSystem.h - Reading and writing whole files --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_FILESYSTEM_H
#define CGX_RUN_FILESYSTEM_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cgx::run {

/// A file mapped for reading. Its bytes are valid as long as `mapping` lives.
struct MappedFile {
  std::shared_ptr<const void> mapping;
  std::span<const std::byte> bytes;
};

/// Maps a file. Throws Error when the path names no regular file.
MappedFile mapFile(const std::string &path);

/// Writes all of `bytes`. Returns false and sets errno when it cannot.
bool writeAll(int fd, std::span<const std::byte> bytes);

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd_(other.release()) {}
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  bool isOpen() const { return fd_ >= 0; }
  void reset();

private:
  int release();

  int fd_;
};

/// Writes `pieces` one after the other to the place that `path` names (cgx/output/OutputFile.h). A file
/// appears complete or not at all. Throws Error.
void replaceFile(const std::string &path, const std::vector<std::span<const std::byte>> &pieces);
void replaceFile(const std::string &path, const std::string &text);

} // namespace cgx::run

#endif // CGX_RUN_FILESYSTEM_H
