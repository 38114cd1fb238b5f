//===-- MappedPlace.cpp - Addresses of a mapped file ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/MappedPlace.h"

#include "cgx/output/OutputFile.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <unistd.h>
#include <utility>

using namespace cgx::run;

/// An entry of a list that only grows, so that a signal handler can walk over it at any time. Entries that
/// are not in use are used again.
struct MappedPlace::Entry {
  std::atomic<uintptr_t> begin{UINTPTR_MAX}, end{UINTPTR_MAX}; ///< equal where it is not in use
  char path[PATH_MAX] = {};
  Entry *next = nullptr;

  bool has(uintptr_t address) const { return begin <= address && address < end; }
};

namespace cgx::run {

// The list is global because a signal handler can reach nothing else.
struct Places {
  static inline std::mutex mutex;
  static inline std::atomic<MappedPlace::Entry *> first{nullptr};
  static inline struct sigaction before;

  static const MappedPlace::Entry *find(uintptr_t address) {
    for (const MappedPlace::Entry *entry = first; entry; entry = entry->next)
      if (entry->has(address))
        return entry;
    return nullptr;
  }

  /// Returns an entry that is not in use, or a new one. The caller holds the lock.
  static MappedPlace::Entry *take() {
    for (MappedPlace::Entry *entry = first; entry; entry = entry->next)
      if (entry->begin == entry->end)
        return entry;
    auto *entry = new MappedPlace::Entry;
    entry->next = first;
    first = entry;
    return entry;
  }

  /// Writes one line with a single write, so that lines of other ranks cannot split it.
  static void say(const char *path) {
    static char line[PATH_MAX + 512]; // static is safe, because only one thread gets here
    size_t length = 0;
    for (const char *part : {"cgx-run: error: '", path,
                             "' became shorter while this run read it, or cannot be read from its disk any "
                             "more: expected a file that "
                             "stays as it is, or is replaced as a whole (written beside and renamed)\n"})
      for (; *part && length < sizeof line; ++part)
        line[length++] = *part;
    (void)!::write(STDERR_FILENO, line, length);
  }

  static void onBusError(int signal, siginfo_t *info, void *context) {
    const MappedPlace::Entry *entry = find(reinterpret_cast<uintptr_t>(info->si_addr));
    if (entry) {
      // Where ranks are threads, several may get here at once.
      static std::atomic_flag isSaid = ATOMIC_FLAG_INIT;
      while (isSaid.test_and_set())
        ::pause(); // the first one ends the process
      say(entry->path);
      cgx::removeUnfinishedOutput();
      ::_exit(1);
    }
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction)
      return before.sa_sigaction(signal, info, context);
    ::sigaction(SIGBUS, &before, nullptr); // the access faults again, and has the effect that it had before
  }

  static void install() {
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &before);
  }
};

} // namespace cgx::run

MappedPlace::MappedPlace(const std::string &path, const void *begin, size_t bytes) {
  std::lock_guard lock(Places::mutex);
  static const bool isInstalled = (Places::install(), true);
  (void)isInstalled;
  entry_ = Places::take();
  std::strncpy(entry_->path, path.c_str(), sizeof entry_->path - 1);
  entry_->end = reinterpret_cast<uintptr_t>(begin) + bytes;
  entry_->begin = reinterpret_cast<uintptr_t>(begin);
}

MappedPlace::MappedPlace(MappedPlace &&other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

MappedPlace &MappedPlace::operator=(MappedPlace &&other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

MappedPlace::~MappedPlace() {
  if (!entry_)
    return;
  std::lock_guard lock(Places::mutex);
  entry_->begin = UINTPTR_MAX; // this comes first, so that the entry covers no address meanwhile
  entry_->end = UINTPTR_MAX;
}
