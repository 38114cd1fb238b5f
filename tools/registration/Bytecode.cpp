//===-- Bytecode.cpp - Modules in MLIR's bytecode ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytecode.h"

#include "cgx/formats/SystemError.h"

#include "cgx/Tools/LargeStack.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

/// The memory that the reader may use beyond the process's own. The limit is needed because a damaged file
/// can claim any size.
static constexpr uint64_t kMostMemory = uint64_t{8} << 30, kMostMemoryPerByte = 256;
/// The most CPU seconds for which it may run.
static constexpr unsigned kMostSeconds = 600;

/// The last byte that the reading process sends. No text contains these.
static constexpr char kRead = '\1', kRefused = '\2';

static void sendBytes(int pipe, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      ::_exit(1); // the parent is gone
    bytes = bytes.drop_front(count < 0 ? 0 : size_t(count));
  }
}

static void limitMemory(uint64_t bytes) {
  unsigned long long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  rlimit limit{};
  if (pages == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0)
    return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, pages * uint64_t(::sysconf(_SC_PAGESIZE)) + bytes);
  (void)::setrlimit(RLIMIT_AS, &limit);
}

/// Reads the bytecode in the child process. A crash ends the child and nothing else.
static void readInto(int pipe, StringRef bytecode, StringRef name, const DialectRegistry &registry) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGALRM})
    ::signal(signal, SIG_DFL);
  ::alarm(kMostSeconds);
  const rlimit none{};
  (void)::setrlimit(RLIMIT_CORE, &none);
  limitMemory(kMostMemory + kMostMemoryPerByte * bytecode.size());
  if (const int null = ::open("/dev/null", O_WRONLY); null >= 0)
    (void)::dup2(null, STDERR_FILENO); // drops the text that LLVM prints as it ends
  cgx::runOnLargeStack([&] {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects(); // the text's reader rejects them later
    context.printOpOnDiagnostic(false);
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += (name + ": error: " + diagnostic.str() + "\n").str();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytecode, ParserConfig(&context), name);
    if (module) {
      llvm::raw_string_ostream stream(said);
      said.clear();
      module->print(stream, OpPrintingFlags().enableDebugInfo().printGenericOpForm());
    }
    sendBytes(pipe, said);
    sendBytes(pipe, StringRef(module ? &kRead : &kRefused, 1));
    ::_exit(0); // the child must not run the parent's destructors
  });
}

bool cgx::bytecodeToText(StringRef bytecode, StringRef name, const DialectRegistry &registry,
                         std::string &text) {
  const auto fail = [&](const Twine &why) {
    text = (name + ": error: " + why).str();
    return false;
  };
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return fail(Twine("cannot read bytecode: no pipe: ") + cgx::formats::systemErrorText(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    readInto(pipe[1], bytecode, name, registry);
    ::_exit(1);
  }
  const int error = errno;
  ::close(pipe[1]);
  text.clear();
  std::array<char, 1 << 16> piece{};
  for (ssize_t count = child < 0 ? 0 : 1; count != 0;) {
    count = ::read(pipe[0], piece.data(), piece.size());
    if (count > 0)
      text.append(piece.data(), size_t(count));
    else if (count < 0 && errno != EINTR)
      break;
  }
  ::close(pipe[0]);
  if (child < 0)
    return fail(Twine("cannot read bytecode: no process: ") + cgx::formats::systemErrorText(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const char last = text.empty() ? '\0' : text.back();
  if (last == kRead || last == kRefused) {
    text.pop_back();
    while (StringRef(text).ends_with("\n"))
      text.pop_back();
    return last == kRead;
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return fail("this bytecode is not read within " + Twine(kMostSeconds) + " seconds");
  return fail(Twine("this bytecode is damaged, or takes more memory than there is: MLIR's reader ended") +
              (WIFSIGNALED(status) ? std::string(" by signal ") + std::to_string(WTERMSIG(status)) + " (" +
                                         ::strsignal(WTERMSIG(status)) + ")"
                                   : std::string()) +
              "; write it once more, or as text");
}
