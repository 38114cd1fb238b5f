//===-- OutputLock.cpp - Lock of an output ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/OutputLock.h"

#include "cgx/formats/SystemError.h"

#include "cgx/output/OutputFile.h"
#include "cgx/run/Error.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace cgx::run;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

std::string hostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

/// Returns the path of an output's lock; empty where it needs none.
std::string lockPath(const std::string &output) {
  if (output.empty() || cgx::isStandardOutput(output))
    return "";
  std::error_code none;
  if (fs::is_directory(output, none))
    return (fs::path(output) / ".lock").string();
  if (fs::exists(output, none) && !fs::is_regular_file(output, none))
    return "";
  const fs::path file = fs::weakly_canonical(output, none); // two links to one file share its lock
  return (file.parent_path() / ("." + file.filename().string() + ".lock")).string();
}

/// The process that holds a lock, as it wrote itself into the file.
struct Holder {
  pid_t process = 0;
  std::string host;

  static Holder read(int file) {
    char text[300] = {};
    const ssize_t got = ::pread(file, text, sizeof text - 1, 0);
    Holder holder;
    const char *end = text + std::max<ssize_t>(got, 0);
    if (const auto number = std::from_chars(text, end, holder.process); number.ptr != end)
      holder.host = std::string(number.ptr + 1, end);
    return holder;
  }

  /// Returns true if the process has ended, so that only its ranks can hold the lock.
  bool isGone() const {
    return process > 0 && host == hostName() && ::kill(process, 0) != 0 && errno == ESRCH;
  }
};

/// Returns true if the file still has the name: the holder removes it when it releases the lock.
bool isThere(int file, const std::string &path) {
  struct stat own, named;
  return ::fstat(file, &own) == 0 && ::lstat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
         own.st_dev == named.st_dev;
}

Descriptor openLock(const std::string &path, const std::string &output) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!file.isOpen())
    throw Error("cannot lock '" + output + "' with '" + path + "': " + cgx::formats::systemErrorText(errno));
  (void)::fchmod(file.get(), 0666); // independent of the umask, so that other users' runs see the lock too
  return file;
}

} // namespace

OutputLock::OutputLock(const std::string &output, std::chrono::milliseconds longestWait)
    : path_(lockPath(output)) {
  if (path_.empty())
    return;
  const Clock::time_point begin = Clock::now();
  while (true) {
    file_ = openLock(path_, output);
    const bool isLocked = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    if (isLocked && isThere(file_.get(), path_))
      break;
    if (isLocked)
      continue; // the previous holder has just removed it
    if (errno != EWOULDBLOCK && errno != EINTR) {
      std::fprintf(stderr,
                   "cgx-run: warning: cannot lock '%s': %s; another run that writes there is not noticed\n",
                   output.c_str(), cgx::formats::systemErrorText(errno).c_str());
      path_.clear();
      file_.reset();
      return;
    }
    const Holder holder = Holder::read(file_.get());
    // A process that has just taken the lock is about to write who it is.
    const auto limit = holder.process == 0 ? std::chrono::milliseconds(1000)
                       : holder.isGone()   ? longestWait
                                           : std::chrono::milliseconds(0);
    if (Clock::now() - begin >= limit) {
      path_.clear();
      throw Error("'" + output + "' is written by another run" +
                  (holder.process == 0
                       ? ""
                       : " (process " + std::to_string(holder.process) + " on " + holder.host +
                             (holder.isGone() ? ", whose ranks still run)" : ")")) +
                  ": expected a place of its own for each run");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::string who = std::to_string(::getpid()) + " " + hostName();
  if (::ftruncate(file_.get(), 0) != 0 || !writeAll(file_.get(), std::as_bytes(std::span(who))))
    std::fprintf(stderr, "cgx-run: warning: cannot write '%s': %s\n", path_.c_str(),
                 cgx::formats::systemErrorText(errno).c_str());
}

OutputLock::OutputLock(OutputLock &&other) noexcept
    : path_(std::exchange(other.path_, "")), file_(std::move(other.file_)) {}

OutputLock::~OutputLock() {
  if (!path_.empty())
    ::unlink(path_.c_str());
}
