//===-- Program.cpp - Start and end of all programs -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/Program.h"

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <sys/resource.h>
#include <unistd.h>

namespace cgx::cli {

/// Reserves the number of a stream that was closed. It is the lowest free number once those below it are
/// taken. The file is opened in the wrong direction, so that reads and writes fail as on a closed stream.
static void take(int stream) {
  if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
    (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Returns false for a stream that was closed on purpose, for this program or for the one that became it.
static bool isWanted(int stream) {
  const int flags = ::fcntl(stream, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/// Below this size, programs are killed without a message where their stack ends; threads get as little.
static constexpr rlim_t kLeastStack = rlim_t{256} << 10;

int runProgram(const char *name, const std::function<int()> &body) {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kLeastStack) {
    std::fprintf(stderr,
                 "%s: error: expected a stack of %llu KiB at least, got a limit of %llu (ulimit -s)\n", name,
                 static_cast<unsigned long long>(kLeastStack >> 10),
                 static_cast<unsigned long long>(stack.rlim_cur >> 10));
    return 1;
  }
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    take(stream);
  const int status = body();
  std::cout.flush();
  errno = 0;
  const bool isWritten = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (isWritten || !isWanted(STDOUT_FILENO))
    return status;
  std::fprintf(stderr, "%s: error: cannot write to standard output%s%s\n", name, errno == 0 ? "" : ": ",
               errno == 0 ? "" : formats::systemErrorText(errno).c_str());
  return status == 0 ? 1 : status;
}

} // namespace cgx::cli
