//===-- library/OpenLibrary.h - Libraries that are loaded when asked for -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What not every job needs, MPI and GPUs, is in libraries of cgx's own beside the runtime, which is linked
// with none of them.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_LIBRARY_OPENLIBRARY_H
#define CGX_RUNTIME_LIBRARY_OPENLIBRARY_H

#include <string>
#include <vector>

namespace cgx {

/// A library that stays open until the process ends, or why there is none: what is wrong with each file that
/// is there, else "no FILE" with the place where it belongs.
struct OpenedLibrary {
  void *handle = nullptr;
  std::string error;
};

/// Opens the first library of these names that can be: each is looked for beside this code, then where the
/// system keeps libraries. Where the environment variable has a value, that file is opened in their place.
OpenedLibrary openLibrary(const char *variable, const std::vector<std::string> &names);

} // namespace cgx

#endif // CGX_RUNTIME_LIBRARY_OPENLIBRARY_H
