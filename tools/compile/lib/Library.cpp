//===-- Library.cpp - The compiler, loaded at need --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "cgx/Cli/Version.h"
#include "cgx/Tools/LlvmProcess.h"
#include "cgx/compile_library.h"

extern "C" const cgx::compile::Library *cgx_compile_library() {
  using namespace cgx::compile;
  cgx::prepareLlvmProcess("cgx-run");
  static const Library library = {&cgx::cli::version, compileFile,        compileText,       compressFile,
                                  loadObjects,        lowerFileForDevice, lowerTextForDevice};
  return &library;
}
