//===-- cgx/run/OutputLock.h - Lock of an output ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If two runs wrote one file, or saved into one folder, one result would be lost silently. A lock
// is a file that the kernel holds for this process and the ranks that it started, and releases
// when the last of them ends, in whatever way: ck/.lock for a folder, .trained.safetensors.lock
// beside a file. The lock file of a killed run locks nothing.
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
  /// Locks a file, which need not exist, or a folder, which must. Pipes, devices and standard output may be
  /// shared and are not locked. If the process of a run is gone and only its ranks remain, waits up to
  /// `longestWait` for them to end. Throws Error where another run holds the lock.
  OutputLock(const std::string &output, std::chrono::milliseconds longestWait);
  ~OutputLock();
  OutputLock(OutputLock &&other) noexcept;
  OutputLock &operator=(OutputLock &&) = delete;

private:
  std::string path_; ///< the path of the lock; empty where there is none
  Descriptor file_;
};

} // namespace cgx::run

#endif // CGX_RUN_OUTPUTLOCK_H
