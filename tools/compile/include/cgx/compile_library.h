//===-- cgx/compile_library.h - The compiler, loaded at need ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cgx/compile.h for a program that works without LLVM where steps are compiled already: it loads the library
// when it meets the text of a step. Both are of one build.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_COMPILE_LIBRARY_H
#define CGX_COMPILE_LIBRARY_H

#include "cgx/compile.h"

namespace cgx::compile {

/// The functions of cgx/compile.h.
struct Library {
  std::string (*version)(); ///< the line of --version, which the loading program compares with its own
  decltype(&compile::compileFile) compileFile;
  decltype(&compile::compileText) compileText;
  decltype(&compile::compressFile) compressFile;
  decltype(&compile::loadObjects) loadObjects;
  decltype(&compile::lowerFileForDevice) lowerFileForDevice;
  decltype(&compile::lowerTextForDevice) lowerTextForDevice;
};

inline constexpr const char *kLibraryFile = "libcgx_step_compiler.so";
/// The one name that the library exports: `extern "C" const Library *cgx_compile_library()`.
inline constexpr const char *kLibraryEntry = "cgx_compile_library";

} // namespace cgx::compile

#endif // CGX_COMPILE_LIBRARY_H
