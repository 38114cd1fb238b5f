//===-- UnfinishedFile.cpp - A file that is not complete yet ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnfinishedFile.h"

#include "Destination.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <unistd.h>

using namespace cgx::output;

namespace {

constexpr int kEndingSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
constexpr size_t kSignals = std::size(kEndingSignals);

// Signal handlers reach only globals: this is the one named unfinished file of this process.
std::mutex oneAtATime;
char currentName[PATH_MAX];
std::atomic<bool> hasCurrent{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void removeAndEnd(int signal) {
  UnfinishedFile::removeCurrent();
  ::signal(signal, SIG_DFL);
  ::raise(signal); // delivered when this handler returns
}

/// Returns a name that no other process uses, nor one of the same number that was killed.
std::string nameBeside(const std::string &target) {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, ".part%016llx", static_cast<unsigned long long>(random()));
  return target + suffix;
}

} // namespace

/// While a named file is unfinished, signals whose default action would end the process remove it first. A
/// program's own handlers stay.
class UnfinishedFile::SignalsRemove {
public:
  explicit SignalsRemove(const std::string &name) : lock_(oneAtATime) {
    std::memcpy(currentName, name.c_str(), name.size() + 1);
    hasCurrent = true;
    for (size_t i = 0; i < kSignals; ++i) {
      ::sigaction(kEndingSignals[i], nullptr, &old_[i]);
      struct sigaction action = {};
      action.sa_handler = removeAndEnd;
      if (old_[i].sa_handler == SIG_DFL)
        ::sigaction(kEndingSignals[i], &action, nullptr);
    }
  }
  ~SignalsRemove() {
    hasCurrent = false;
    for (size_t i = 0; i < kSignals; ++i)
      if (old_[i].sa_handler == SIG_DFL)
        ::sigaction(kEndingSignals[i], &old_[i], nullptr);
  }

private:
  std::lock_guard<std::mutex> lock_;
  struct sigaction old_[kSignals];
};

UnfinishedFile::UnfinishedFile(const std::string &target, unsigned mode, Naming naming) {
  const std::string folder = folderOf(target);
  // Without /proc the file could get no name later.
  if (naming == Naming::Late && ::access("/proc/self/fd", X_OK) == 0)
    fd_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (fd_ >= 0)
    return;
  if (chooseName(target))
    fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd_ < 0)
    forgetName(); // the name belongs to another file
}

UnfinishedFile::~UnfinishedFile() {
  const int reason = errno;
  if (!name_.empty())
    ::unlink(name_.c_str());
  if (fd_ >= 0)
    ::close(fd_);
  errno = reason;
}

bool UnfinishedFile::chooseName(const std::string &target) {
  name_ = nameBeside(target);
  if (name_.size() >= sizeof currentName) {
    name_.clear();
    errno = ENAMETOOLONG;
    return false;
  }
  signals_ = std::make_unique<SignalsRemove>(name_);
  return true;
}

void UnfinishedFile::forgetName() {
  const int reason = errno;
  name_.clear();
  signals_.reset();
  errno = reason;
}

bool UnfinishedFile::moveTo(const std::string &target) {
  if (name_.empty()) {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    if (!chooseName(target))
      return false;
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      forgetName();
      return false;
    }
  }
  if (::rename(name_.c_str(), target.c_str()) != 0)
    return false;
  forgetName();
  return true;
}

void UnfinishedFile::removeCurrent() noexcept {
  if (hasCurrent)
    ::unlink(currentName);
}
