//===-- Link.cpp - Linking an object to a shared library --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/compile.h"
#include "cgx/output/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <list>

namespace cgx::compile {
namespace {

std::string folderOfTemporaryFiles() {
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
  return ("'" + folder + "' ($TMPDIR, else /tmp)").str();
}

/// A file that is removed with this object, or when the process ends.
class TemporaryFile {
public:
  ~TemporaryFile() { llvm::sys::DontRemoveFileOnSignal(path); }

  /// Creates an empty file. Returns the error, empty on success.
  std::string create(llvm::StringRef ending, int &file) {
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("cgx-step", ending, file, path))
      return "cannot make a temporary file in " + folderOfTemporaryFiles() + ": " + error.message();
    remover.setFile(path);
    llvm::sys::RemoveFileOnSignal(path);
    return "";
  }

  /// Creates the file with these bytes. Returns the error, empty on success.
  std::string write(llvm::StringRef ending, llvm::StringRef bytes) {
    int file;
    if (std::string error = create(ending, file); !error.empty())
      return error;
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
                              const std::vector<std::string> &folders) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("cc");
  if (!linker)
    return "cannot link '" + path +
           "': there is no C compiler 'cc' on PATH; write step.o instead and link it "
           "with -shared -lcgx_runtime -lcgx_native -lm";
  std::list<TemporaryFile> temporaries; // the list does not move them
  for (const std::string &object : objects.files) {
    temporaries.emplace_back();
    if (std::string error = temporaries.back().write("o", object); !error.empty())
      return error;
  }

  // The linker writes a temporary file, because linkers remove whatever has their output's name and write in
  // place.
  TemporaryFile linked;
  int file;
  if (std::string error = linked.create("so", file); !error.empty())
    return error;
  llvm::sys::Process::SafelyCloseFileDescriptor(file);
  llvm::SmallVector<llvm::StringRef> arguments = {*linker, "-shared", "-o", linked.getPath()};
  for (const TemporaryFile &temporary : temporaries)
    arguments.push_back(temporary.getPath());
  // -Wl,-rpath would cut the name of the folder at commas.
  for (const std::string &folder : folders)
    arguments.append({"-L", folder, "-Xlinker", "-rpath", "-Xlinker", folder});
  arguments.append({"-lcgx_runtime",
                    // Steps that need no function of this library are linked without it, and so without BLAS.
                    "-Xlinker", "--as-needed", "-lcgx_native", "-lm"});
  std::string message;
  if (int code = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, {}, 0, 0, &message); code != 0)
    return "cannot link '" + path + "': " + *linker + " ended with " + std::to_string(code) +
           (message.empty() ? "" : ": " + message);
  auto bytes =
      llvm::MemoryBuffer::getFile(linked.getPath(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return "cannot read '" + linked.getPath().str() + "': " + bytes.getError().message();
  return cgx::writeOutput(path, (*bytes)->getBuffer(), FileMode::Program);
}

} // namespace cgx::compile
