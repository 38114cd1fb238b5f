//===-- state/StateFiles.h - What is remembered, in files --------*- C++ -*-===//
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

/// Memory in a new file of a folder. It has no name, so that it goes with whoever uses it, and all of its
/// bytes are reserved: a disk that is full later ends no step.
Result<StateMemory> mapFile(const std::string &folder, uint64_t bytes);

/// Where memory of messages is taken from.
class StateMemorySource {
public:
  /// From the heap if `folder` is empty, else from files there.
  explicit StateMemorySource(std::string folder = {}) : folder(std::move(folder)) {}

  /// Nothing after a failure, which stays.
  StateMemory take(uint64_t bytes);
  const Status &status() const { return failure; }

private:
  std::string folder;
  Status failure;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATE_STATEFILES_H
