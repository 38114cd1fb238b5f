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

#include <list>

namespace cgx::compile {
namespace {

/// A file that is gone with the object.
class TemporaryObject {
public:
  /// Returns the error, empty on success.
  std::string write(llvm::StringRef bytes) {
    int file;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("cgx-step", "o", file, path))
      return "cannot create a temporary file: " + error.message();
    remover.setFile(path);
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream << bytes;
    stream.close();
    if (!stream.has_error())
      return "";
    std::string error = "cannot write '" + path.str().str() + "': " + stream.error().message();
    stream.clear_error();
    return error;
  }

  llvm::StringRef getPath() const { return path; }

private:
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
};

} // namespace

std::string linkSharedLibrary(const Artifact &objects, const std::string &path,
                              const std::string &runtimeFolder) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("cc");
  if (!linker)
    return "cannot link '" + path +
           "': there is no C compiler 'cc' on PATH; write step.o instead and link it "
           "with -shared -lcgx_runtime -lm";
  std::list<TemporaryObject> temporaries; // do not move
  for (const std::string &object : objects.files) {
    temporaries.emplace_back();
    if (std::string error = temporaries.back().write(object); !error.empty())
      return error;
  }

  std::string search = "-L" + runtimeFolder, runPath = "-Wl,-rpath," + runtimeFolder;
  llvm::SmallVector<llvm::StringRef> arguments = {*linker, "-shared", "-o", path};
  for (const TemporaryObject &temporary : temporaries)
    arguments.push_back(temporary.getPath());
  arguments.append({search, runPath, "-lcgx_runtime", "-lm"});
  std::string message;
  if (int code = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, {}, 0, 0, &message); code != 0)
    return "cannot link '" + path + "': " + *linker + " ended with " + std::to_string(code) +
           (message.empty() ? "" : ": " + message);
  return "";
}

} // namespace cgx::compile
