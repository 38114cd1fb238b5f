//===-- Plugin.cpp - A library that brings devices --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/pjrt/Plugin.h"

#include "Call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace cgx::pjrt {

namespace {

constexpr const char *kEntry = "GetPjrtApi";

/// By their numbers.
constexpr std::array kExtensions = {"GPU custom calls",
                                    "profiler",
                                    "custom partitioner",
                                    "streams",
                                    "layouts",
                                    "FFI",
                                    "memory descriptions",
                                    "Triton",
                                    "raw buffers",
                                    "phase compile",
                                    "example",
                                    "unknown",
                                    "cross-host transfers",
                                    "executable metadata",
                                    "callbacks",
                                    "host allocator"};
static_assert(std::string_view(kExtensions[abi::kForeignFunctions]) == "FFI");

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_NONE; // then the loader says it in its words
#endif

std::string nameOf(Elf64_Half machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  default:
    return "machine " + std::to_string(machine) + " of ELF";
  }
}

/// The loader says of a library for another processor that it is not there.
void expectOwnMachine(const std::string &path) {
  Elf64_Ehdr header;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error("cannot open the plugin '" + path + "': there is no such file that can be read");
  if (!file.read(reinterpret_cast<char *>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    throw Error("expected a PJRT plugin, which is a shared library, got '" + path + "'");
  if (header.e_ident[EI_CLASS] == ELFCLASS64 && kMachine != EM_NONE && header.e_machine != kMachine)
    throw Error("the plugin '" + path + "' is for " + nameOf(header.e_machine) + ", and this machine is " +
                nameOf(kMachine) + ": install the plugin's package for this machine");
}

const abi::ForeignFunctions *findFunctions(const abi::Table &table) {
  for (const abi::Extension *each = table.extensions; each; each = each->next)
    if (each->type == abi::kForeignFunctions && each->size >= sizeof(abi::ForeignFunctions))
      return reinterpret_cast<const abi::ForeignFunctions *>(each);
  return nullptr;
}

} // namespace

void throwIfAny(const Plugin &plugin, void *error) {
  if (!error)
    return;
  using Entry = void (*)(void *);
  abi::ErrorMessage message{};
  message.size = sizeof message;
  message.error = error;
  reinterpret_cast<Entry>(plugin.table().functions[abi::kErrorMessage])(&message);
  const std::string text(message.text, message.length);
  abi::Handle freed{};
  freed.size = sizeof freed;
  freed.handle = error;
  reinterpret_cast<Entry>(plugin.table().functions[abi::kErrorDestroy])(&freed);
  throw Error(text);
}

void destroy(const Plugin &plugin, abi::Function function, void *handle) noexcept {
  if (!handle)
    return;
  try {
    abi::Handle arguments{};
    arguments.handle = handle;
    call(plugin, function, arguments);
  } catch (const Error &) { // the process ends soon
  }
}

void await(const Plugin &plugin, void *event) {
  struct Owner {
    const Plugin &plugin;
    void *event;
    ~Owner() { destroy(plugin, abi::kEventDestroy, event); }
  } owner{plugin, event};
  abi::Handle arguments{};
  arguments.handle = event;
  call(plugin, abi::kEventAwait, arguments);
}

Plugin Plugin::open(const std::string &path) {
  // Without a slash, the loader would search its own folders.
  const std::string absolute = std::filesystem::absolute(path).string();
  expectOwnMachine(absolute);
  void *library = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error("cannot load the plugin '" + path + "': " + ::dlerror());
  const auto entry = reinterpret_cast<const abi::Table *(*)()>(::dlsym(library, kEntry));
  if (!entry)
    throw Error("expected a PJRT plugin, got '" + path + "', which has no function " + kEntry);
  Plugin plugin;
  plugin.path_ = path;
  plugin.table_ = entry();
  if (!plugin.table_)
    throw Error("the plugin '" + path + "' gives no table of functions");
  if (plugin.table_->version.major != abi::kMajorVersion || plugin.table_->size < sizeof(abi::Table))
    throw Error("expected a plugin of PJRT " + std::to_string(abi::kMajorVersion) + ".x with at least " +
                std::to_string(abi::kFunctionsUsed) + " functions, got " + plugin.describe() + " with " +
                std::to_string((plugin.table_->size - offsetof(abi::Table, functions)) / sizeof(void *)));
  plugin.functions_ = findFunctions(*plugin.table_);
  return plugin;
}

std::string Plugin::version() const {
  return "PJRT " + std::to_string(table_->version.major) + "." + std::to_string(table_->version.minor);
}

std::string Plugin::describe() const { return "'" + path_ + "' (" + version() + ")"; }

std::vector<std::string> Plugin::extensions() const {
  std::vector<std::string> names;
  for (const abi::Extension *each = table_->extensions; each; each = each->next)
    names.push_back(each->type >= 0 && size_t(each->type) < kExtensions.size()
                        ? kExtensions[size_t(each->type)]
                        : "extension " + std::to_string(each->type));
  std::sort(names.begin(), names.end());
  return names;
}

void Plugin::registerHandler(const std::string &target, void *handler, const std::string &platform) const {
  abi::RegisterHandler arguments{};
  arguments.size = offsetof(abi::RegisterHandler, traits) + sizeof arguments.traits;
  arguments.target = target.data();
  arguments.targetLength = target.size();
  arguments.handler = handler;
  arguments.platform = platform.data();
  arguments.platformLength = platform.size();
  throwIfAny(*this, functions_->registerHandler(&arguments));
}

} // namespace cgx::pjrt
