//===-- state/StateFiles.h - Codec state in mapped files --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATE_STATEFILES_H
#define CGX_RUNTIME_STATE_STATEFILES_H

#include "state/StateMemory.h"
#include "status/Status.h"

#include <string>

namespace cgx {

/// Maps a new file of a folder. The file has no name, so that it disappears with its user, and all of its
/// bytes are reserved: a disk that is full later fails no step.
Result<StateMemory> mapFile(const std::string &folder, uint64_t bytes);

/// The source of the memory of message buffers.
class StateMemorySource {
public:
  /// Takes memory from the heap if `folder` is empty, else from files there.
  explicit StateMemorySource(std::string folder = {}) : folder(std::move(folder)) {}

  /// Returns memory, or none after a failure, which is kept.
  StateMemory take(uint64_t bytes);
  const Status &status() const { return failure; }

private:
  std::string folder;
  Status failure;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_STATEFILES_H
