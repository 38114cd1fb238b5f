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
#include "cgx/run/MappedPlace.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>

using namespace cgx::run;

namespace {

void *findSymbol(void *library, const char *name, const std::string &path) {
  void *symbol = ::dlsym(library, name);
  if (!symbol)
    throw Error("'" + path + "' is not a compiled step: it has no symbol " + name);
  return symbol;
}

/// Checks that the file has all bytes that the loader maps, because the loader crashes on a truncated file.
void checkWhole(const MappedFile &file, const std::string &path) {
  ElfW(Ehdr) header;
  if (file.bytes.size() < sizeof header)
    return; // which the loader says
  std::memcpy(&header, file.bytes.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    const uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > file.bytes.size() || file.bytes.size() - at < sizeof segment)
      throw Error("cannot load '" + path + "': it is cut short, after " + std::to_string(file.bytes.size()) +
                  " bytes");
    std::memcpy(&segment, file.bytes.data() + at, sizeof segment);
    uint64_t end = 0;
    if (segment.p_type == PT_LOAD &&
        (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) || end > file.bytes.size()))
      throw Error("cannot load '" + path + "': it is cut short: expected at least " + std::to_string(end) +
                  " bytes, got " + std::to_string(file.bytes.size()));
  }
}

/// Where a library lies that is loaded.
MappedPlace placeOf(void *library, const std::string &path) {
  struct Search {
    uintptr_t base, begin, end;
  } search = {0, UINTPTR_MAX, 0};
  link_map *map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map)
    return {};
  search.base = map->l_addr;
  ::dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &search = *static_cast<Search *>(data);
        if (info->dlpi_addr != search.base)
          return 0;
        for (size_t i = 0; i < info->dlpi_phnum; ++i)
          if (const ElfW(Phdr) &segment = info->dlpi_phdr[i]; segment.p_type == PT_LOAD) {
            search.begin = std::min(search.begin, uintptr_t(search.base + segment.p_vaddr));
            search.end = std::max(search.end, uintptr_t(search.base + segment.p_vaddr + segment.p_memsz));
          }
        return 1;
      },
      &search);
  if (search.begin >= search.end)
    return {};
  return MappedPlace(path, reinterpret_cast<const void *>(search.begin), search.end - search.begin);
}

} // namespace

bool cgx::run::isLibrary(const std::string &path) {
  MappedFile file = mapFile(path);
  return file.bytes.size() >= 4 && std::memcmp(file.bytes.data(), "\177ELF", 4) == 0;
}

Program cgx::run::openLibrary(const std::string &path) {
  // Without a slash, the loader would search its own folders.
  std::string absolute = std::filesystem::absolute(path).string();
  checkWhole(mapFile(absolute), path);
  void *library = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error("cannot load '" + path + "': " + ::dlerror());
  Program program;
  program.path = path;
  const auto place = std::make_shared<MappedPlace>(placeOf(library, path));
  program.code = std::shared_ptr<void>(library, [place](void *code) { ::dlclose(code); });
  program.manifest = static_cast<const char *>(findSymbol(library, CGX_SYMBOL_MANIFEST, path));
  program.step = reinterpret_cast<cgx_program_step_fn>(findSymbol(library, CGX_SYMBOL_STEP, path));
  return program;
}
