//===-- InputFile.cpp - Opens input files -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/InputFile.h"

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cgx::formats {

namespace {

constexpr std::chrono::seconds kLongestWait{2};

/// Returns true if a pipe has bytes, or has or had a writer: only then does its end mean that all has been
/// read. It takes nothing out of the pipe.
bool hasWriter(int pipe) {
  pollfd event{pipe, POLLIN, 0};
  if (::poll(&event, 1, /*timeout=*/0) > 0)
    return true; // it has bytes, or reports POLLHUP because a writer has left
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return true; // reading will find out, and may wait
  // tee() reports EAGAIN if somebody may still write, and 0 if nobody can.
  const bool isThere = ::tee(pipe, ends[1], 1, SPLICE_F_NONBLOCK) != 0;
  ::close(ends[0]);
  ::close(ends[1]);
  return isThere;
}

/// Returns why the file cannot be read; "" if it can.
std::string check(int file, InputKind kind) {
  struct stat status;
  if (::fstat(file, &status) != 0)
    return systemErrorText(errno);
  if (kind == InputKind::File && !S_ISREG(status.st_mode))
    return "expected a regular file";
  if (S_ISDIR(status.st_mode))
    return systemErrorText(EISDIR);
  if (!S_ISFIFO(status.st_mode))
    return "";
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (!hasWriter(file)) { // a writer that has been waiting for a reader opens the pipe now
    if (std::chrono::steady_clock::now() > end)
      return "expected somebody to write to this pipe, and nobody does";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return "";
}

} // namespace

int openInput(const std::string &path, InputKind kind, std::string &wrong) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    wrong = systemErrorText(errno);
    return -1;
  }
  wrong = check(file, kind);
  if (wrong.empty() && ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK) != 0)
    wrong = systemErrorText(errno);
  if (wrong.empty())
    return file;
  ::close(file);
  return -1;
}

} // namespace cgx::formats
