//===-- library/OpenLibrary.h - Libraries that are loaded on demand -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that not every job needs (MPI and GPUs) is in libraries of cgx's own beside the runtime, which is
// linked with none of them.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_LIBRARY_OPENLIBRARY_H
#define CGX_RUNTIME_LIBRARY_OPENLIBRARY_H

#include <string>
#include <vector>

namespace cgx {

/// A library that stays open until the process ends, or the reason why there is none: the error of each file
/// that exists, else "no FILE" with the place where it belongs.
struct OpenedLibrary {
  void *handle = nullptr;
  std::string error;
};

/// Opens the first of these libraries that can be opened: each is looked for beside this code, then where the
/// system keeps libraries. If the environment variable has a value, that file is opened instead.
OpenedLibrary openLibrary(const char *variable, const std::vector<std::string> &names);

} // namespace cgx

#endif // CGX_RUNTIME_LIBRARY_OPENLIBRARY_H
