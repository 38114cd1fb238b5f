//===-- cgx/run/Program.h - A compiled step in memory -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_PROGRAM_H
#define CGX_RUN_PROGRAM_H

#include "cgx/runtime.h"

#include <memory>
#include <string>

namespace cgx::run {

struct DeviceProgram;

/// A step that was compiled: native code, or a program for a device.
struct Program {
  std::string path;
  std::string manifest;
  cgx_program_step_fn step = nullptr; ///< native code; null where there is a device
  /// Keeps the code in memory.
  std::shared_ptr<void> code;
  std::shared_ptr<const DeviceProgram> device; ///< null: native
};

/// Loads a shared library that exports the symbols of cgx/runtime.h. Throws Error.
Program openLibrary(const std::string &path);

/// Returns whether the file is an ELF object rather than text.
bool isLibrary(const std::string &path);

} // namespace cgx::run

#endif // CGX_RUN_PROGRAM_H
