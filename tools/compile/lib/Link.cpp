//===-- Link.cpp - An object to a shared library ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/compile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace cgx::compile {

std::string linkSharedLibrary(const Artifact &object, const std::string &path,
                              const std::string &runtimeFolder) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("cc");
  if (!linker)
    return "cannot link '" + path +
           "': there is no C compiler 'cc' on PATH; write step.o instead and link it "
           "with -shared -lcgx_runtime -lm";
  llvm::SmallString<128> temporary;
  int file;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("cgx-step", "o", file, temporary))
    return "cannot create a temporary file: " + error.message();
  llvm::FileRemover remover(temporary);
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << object.bytes;
  stream.close();
  if (stream.has_error())
    return "cannot write '" + temporary.str().str() + "': " + stream.error().message();

  std::string search = "-L" + runtimeFolder, runPath = "-Wl,-rpath," + runtimeFolder;
  llvm::SmallVector<llvm::StringRef> arguments = {*linker, "-shared",       "-o", path, temporary, search,
                                                  runPath, "-lcgx_runtime", "-lm"};
  std::string message;
  if (int code = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, {}, 0, 0, &message); code != 0)
    return "cannot link '" + path + "': " + *linker + " ended with " + std::to_string(code) +
           (message.empty() ? "" : ": " + message);
  return "";
}

} // namespace cgx::compile
