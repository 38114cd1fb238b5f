//===-- FileSystem.cpp - Reading and writing whole files --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/FileSystem.h"

#include "cgx/formats/InputFile.h"
#include "cgx/formats/SystemError.h"
#include "cgx/output/OutputFile.h"
#include "cgx/run/Error.h"
#include "cgx/run/MappedPlace.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace cgx::run;

namespace {

[[noreturn]] void fail(const std::string &what, const std::string &path) {
  throw Error(what + " '" + path + "': " + cgx::formats::systemErrorText(errno));
}

} // namespace

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = -1;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

bool cgx::run::writeAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

MappedFile cgx::run::mapFile(const std::string &path) {
  std::string wrong;
  const Descriptor file(cgx::formats::openInput(path, cgx::formats::InputKind::File, wrong));
  if (!file.isOpen())
    throw Error("cannot open '" + path + "': " + wrong);
  struct stat status;
  if (::fstat(file.get(), &status) != 0)
    fail("cannot read", path);
  MappedFile result;
  auto size = static_cast<size_t>(status.st_size);
  if (size == 0)
    return result;
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED)
    fail("cannot map", path);
  const auto place = std::make_shared<MappedPlace>(path, address, size);
  result.mapping = std::shared_ptr<const void>(address, [place, size](const void *mapped) {
    *place = MappedPlace(); // this comes first, because another file may get the addresses at once
    ::munmap(const_cast<void *>(mapped), size);
  });
  result.bytes = {static_cast<const std::byte *>(address), size};
  return result;
}

void cgx::run::replaceFile(const std::string &path, const std::vector<std::span<const std::byte>> &pieces) {
  if (std::string error = cgx::writeOutput(path, pieces); !error.empty())
    throw Error(error);
}

void cgx::run::replaceFile(const std::string &path, const std::string &text) {
  replaceFile(path, {std::as_bytes(std::span(text))});
}
