//===-- cgx/run/FileSystem.h - Whole files, in and out ----------*- C++ -*-===//
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

/// A file mapped for reading. The bytes live as long as `mapping`.
struct MappedFile {
  std::shared_ptr<const void> mapping;
  std::span<const std::byte> bytes;
};

/// Throws Error when there is no such regular file.
MappedFile mapFile(const std::string &path);

/// Writes all of `bytes`; false with errno set when it cannot.
bool writeAll(int fd, std::span<const std::byte> bytes);

/// Closes a file descriptor at the end of its scope.
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

/// Writes `pieces` one behind the other to where `path` says (cgx/output/OutputFile.h): a file appears
/// whole or not at all. Throws Error.
void replaceFile(const std::string &path, const std::vector<std::span<const std::byte>> &pieces);
void replaceFile(const std::string &path, const std::string &text);

} // namespace cgx::run

#endif // CGX_RUN_FILESYSTEM_H
