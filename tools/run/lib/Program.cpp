//===-- Program.cpp - A compiled step in memory -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Program.h"

#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"

#include <cstring>
#include <dlfcn.h>
#include <filesystem>

using namespace cgx::run;

namespace {

void *findSymbol(void *library, const char *name, const std::string &path) {
  void *symbol = ::dlsym(library, name);
  if (!symbol)
    throw Error("'" + path + "' is not a compiled step: it has no symbol " + name);
  return symbol;
}

} // namespace

bool cgx::run::isLibrary(const std::string &path) {
  MappedFile file = mapFile(path);
  return file.bytes.size() >= 4 && std::memcmp(file.bytes.data(), "\177ELF", 4) == 0;
}

Program cgx::run::openLibrary(const std::string &path) {
  // Without a slash, the loader would search its own folders.
  std::string absolute = std::filesystem::absolute(path).string();
  void *library = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error("cannot load '" + path + "': " + ::dlerror());
  Program program;
  program.path = path;
  program.code = std::shared_ptr<void>(library, ::dlclose);
  program.manifest = static_cast<const char *>(findSymbol(library, CGX_SYMBOL_MANIFEST, path));
  program.step = reinterpret_cast<cgx_program_step_fn>(findSymbol(library, CGX_SYMBOL_STEP, path));
  return program;
}
