//===-- cgx/run/OutputLock.h - One run for each output ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of two runs that write one file, or save into one folder, one would be lost without a
// word. A lock is a file that the kernel holds for this process and the ranks that it
// started, and lets go when the last of them ends, however that comes about: ck/.lock for a
// folder, .trained.safetensors.lock beside a file. What a killed run leaves of it locks
// nothing.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_OUTPUTLOCK_H
#define CGX_RUN_OUTPUTLOCK_H

#include "cgx/run/FileSystem.h"

#include <chrono>
#include <string>

namespace cgx::run {

class OutputLock {
public:
  /// Locks a file, which need not be there, or a folder, which must. What is no file (a pipe, a device,
  /// standard output) may be shared, and is not locked. Waits up to `longestWait` for the ranks of a run
  /// whose own process is gone: they are about to end. Throws Error where another run has it.
  OutputLock(const std::string &output, std::chrono::milliseconds longestWait);
  ~OutputLock();
  OutputLock(OutputLock &&other) noexcept;
  OutputLock &operator=(OutputLock &&) = delete;

private:
  std::string path_; ///< of the lock; empty where there is none
  Descriptor file_;
};

} // namespace cgx::run

#endif // CGX_RUN_OUTPUTLOCK_H
