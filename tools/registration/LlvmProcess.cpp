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
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

static void onFatalError(void *tool, const char *reason, bool) {
  if (!llvm::StringRef(reason).contains("pthread_create failed")) {
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason); // LLVM goes on with what else it does
    return;
  }
  std::fprintf(stderr,
               "%s: error: cannot start a thread: %s (ulimit -u, or the most processes of a container)\n",
               static_cast<const char *>(tool), reason);
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
