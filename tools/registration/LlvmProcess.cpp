//===-- LlvmProcess.cpp - LLVM as part of a program --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/LlvmProcess.h"

#include "cgx/output/OutputFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

/// The seconds after which a crashed process is ended; printing a stack with the names of all functions takes
/// one or two.
static constexpr time_t kLongestLastWords = 10;

/// A timer of this process that is armed when it crashes. alarm() cannot be used, because LLVM sets and
/// clears it.
static timer_t lastWordsTimer;

/// Ends the process. It uses only functions that are safe in a signal handler, because another thread may
/// hold the lock of malloc, of stderr, or of any library.
static void endAtOnce(int) {
  static constexpr char text[] = "the stack cannot be printed: a lock that this needs is held where the "
                                 "program crashed\n";
  (void)!::write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(SIGABRT, SIG_DFL);
  ::raise(SIGABRT);
}

static void boundLastWords(void *) {
  std::signal(SIGALRM, endAtOnce);
  itimerspec once = {};
  once.it_value.tv_sec = kLongestLastWords;
  ::timer_settime(lastWordsTimer, 0, &once, nullptr);
}

void cgx::expectCrashes() {
  if (::timer_create(CLOCK_MONOTONIC, nullptr, &lastWordsTimer) == 0) // the timer sends SIGALRM
    llvm::sys::AddSignalHandler(boundLastWords, /*Cookie=*/nullptr);
}

static void onFatalError(void *tool, const char *reason, bool) {
  llvm::StringRef text(reason);
  const char *name = static_cast<const char *>(tool);
  if (text.consume_front("IO failure on output stream: ")) {
    std::fprintf(stderr, "%s: error: cannot write to standard output: %s\n", name, text.data());
  } else if (text.contains("pthread_create failed")) {
    std::fprintf(stderr,
                 "%s: error: cannot start a thread: %s (ulimit -u, or the most processes of a container)\n",
                 name, reason);
  } else {
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason); // LLVM continues with the rest of its exit
    return;
  }
  cgx::removeUnfinishedOutput();
  ::_exit(1);
}

void cgx::prepareLlvmProcess(const char *tool) {
  llvm::setBugReportMsg(
      "internal error: please report it to the authors of cgx, with the module and the lines below\n");
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(onFatalError, const_cast<char *>(tool));
  if (const char *noColor = std::getenv("NO_COLOR"); noColor && *noColor) {
    llvm::errs().enable_colors(false);
    llvm::outs().enable_colors(false);
  }
}
